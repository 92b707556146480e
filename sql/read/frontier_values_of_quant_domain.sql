-- Which quant domains do candidates name?
SELECT DISTINCT quant_domain FROM frontier_candidate WHERE quant_domain IS NOT NULL ORDER BY quant_domain
