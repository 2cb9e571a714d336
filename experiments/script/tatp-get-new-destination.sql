-- TATP: where a call is forwarded to at this hour. Most subscribers forward none.
\set s_id (random(0, :a) | random(1, :rows)) % :rows + 1
\set sf_type random(1, 4)
\set start_time random(0, 2) * 8
\set end_time random(1, 24)
\set numberx null
SELECT cf.numberx FROM special_facility sf JOIN call_forwarding cf
    ON cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type
    WHERE sf.s_id = :s_id AND sf.sf_type = :sf_type AND sf.is_active = 1
        AND cf.start_time <= :start_time AND cf.end_time > :end_time \aset
\if :numberx is not null
\count found
\endif
