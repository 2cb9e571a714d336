-- Revenue of the brands of a category in one month.
SELECT i_brand, count(*) AS sales, sum(ss_ext_sales_price) AS revenue
FROM store_sales
JOIN date_dim ON d_date_sk = ss_sold_date_sk
JOIN item ON i_item_sk = ss_item_sk
WHERE d_year = 2000 AND d_moy = 12 AND i_category = 'Music'
GROUP BY i_brand
ORDER BY revenue DESC, i_brand;
