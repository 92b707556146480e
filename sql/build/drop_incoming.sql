DROP TABLE incoming
