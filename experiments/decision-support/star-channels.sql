-- Profit of each year by channel.
SELECT channel, d_year, count(*) AS sales, sum(profit) AS profit
FROM (
    SELECT 'store' AS channel, ss_sold_date_sk AS sold, ss_net_profit AS profit FROM store_sales
    UNION ALL
    SELECT 'catalog', cs_sold_date_sk, cs_net_profit FROM catalog_sales
    UNION ALL
    SELECT 'web', ws_sold_date_sk, ws_net_profit FROM web_sales
) AS all_sales
JOIN date_dim ON d_date_sk = sold
GROUP BY channel, d_year
ORDER BY channel, d_year;
