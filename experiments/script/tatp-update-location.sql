-- TATP: the new place of a subscriber, who is known by number.
\set sub_nbr zero_pad((random(0, :a) | random(1, :rows)) % :rows + 1, 15)
\set location random(0, 2147483647)
UPDATE subscriber SET vlr_location = :location WHERE sub_nbr = :sub_nbr;
