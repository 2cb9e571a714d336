-- What customers of an education return, and how much of each sale it was.
SELECT cd_education_status, count(*) AS returned, sum(sr_return_amt) AS amount,
       sum(ss_ext_sales_price) AS sold
FROM store_returns
JOIN store_sales ON ss_item_sk = sr_item_sk AND ss_ticket_number = sr_ticket_number
JOIN customer_demographics ON cd_demo_sk = sr_cdemo_sk
GROUP BY cd_education_status
ORDER BY cd_education_status;
