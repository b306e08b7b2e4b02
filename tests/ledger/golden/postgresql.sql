CREATE SCHEMA leeward;
CREATE TABLE leeward.charges (
    id text NOT NULL COLLATE pg_catalog."C",
    dataset text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    key_hash text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    cost text NOT NULL COLLATE pg_catalog."C",
    digest_form text NOT NULL COLLATE pg_catalog."C",
    digest_columns text NOT NULL COLLATE pg_catalog."C",
    digest bytea NOT NULL,
    marks text NOT NULL COLLATE pg_catalog."C",
    holder text NOT NULL COLLATE pg_catalog."C",
    payload bytea
);
CREATE TABLE leeward.entries (
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    "time" text NOT NULL COLLATE pg_catalog."C",
    dataset text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    cost text NOT NULL COLLATE pg_catalog."C",
    seal text NOT NULL COLLATE pg_catalog."C",
    notion text COLLATE pg_catalog."C",
    cap text COLLATE pg_catalog."C",
    spent text NOT NULL COLLATE pg_catalog."C",
    hash text NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE leeward.form (
    schema integer NOT NULL
);
CREATE TABLE leeward.ledger (
    id text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C"
);
INSERT INTO leeward.charges VALUES ('8930f28c-7632-456a-b33e-1172100c4bdc', 'city', '1', '41e8332c6e5b79c3bdffeb558da7768484be19db07b500cb9d878ff3e49e5d58', 'stored', '1/7', '1 7fd9db55786aacc5c4ea2abce7fd882d', '["user", "venue"]', '\x636f6e74656e74', '{"marks": {}, "telling": []}', '0d23893dbac447faafda0b639161d4d9', '\x00616e73776572ff');
INSERT INTO leeward.charges VALUES ('1e682ef7-dc0b-4416-9f1e-9e6840dc4c7b', 'city', '1', '86734e5b1f0c0262d819e96a8afb2ec9f2bc8509073d30bee9316b61e3f36068', 'taken over', '1/3', '1 7fd9db55786aacc5c4ea2abce7fd882d', '["user", "venue"]', '\x636f6e74656e74', '{"marks": {}, "telling": []}', '4186962853704d01a14f081c3267631f', '\x');
INSERT INTO leeward.charges VALUES ('f5fb3f1b-1013-45f4-9303-c4b34e2d9c61', 'city', '2', 'f55c3f1a56c14ac714d32ca2b3fbe02f6f4b060feb59a41d7cf83a697ee6ac01', 'last', '1/5', '1 07e210b150206b3be256697a09558433', '["user", "venue"]', '\x636f6e74656e74', '{"marks": {}, "telling": []}', '1dece80a2eac426c8e6fe01e42c05888', '\x01');
INSERT INTO leeward.entries VALUES (1, '8366bf15-4926-4a36-9492-6071cb4d4cf7', '2026-11-22T14:31:38+00:00', 'city', '', 'opened', '', '0/1', '', 'addition-only/person', '1/1', '0/1', 'abf82bde22380be8b31655ace6e1abed274fd7811abd539d12fd5c8df0273e4a');
INSERT INTO leeward.entries VALUES (2, '8930f28c-7632-456a-b33e-1172100c4bdc', '2026-11-22T14:31:38+00:00', 'city', '1', 'reserved', 'stored', '1/3', 'da770bcada22b2e3c3646df8a674fd4c5629c3adb221c5c94952be6698f07370', 'addition-only/person', '1/1', '1/3', 'b98aa4208d8174c3b2a7b7d6d344a77dddf6c308c8f00dc51b6cbd13fc3f5233');
INSERT INTO leeward.entries VALUES (3, '8930f28c-7632-456a-b33e-1172100c4bdc', '2026-11-22T14:31:38+00:00', 'city', '1', 'released', 'stored', '-4/21', 'f41b0ffbbc6baeb81df00a280cd2dc4dcddafaf1f54a29bd8c9f09f9bcf67ece', 'addition-only/person', '1/1', '1/7', 'c3763035e0df61bd0cf5b97c4e7092e1b4ce5154d23f652d2844ac8d4ba27863');
INSERT INTO leeward.entries VALUES (4, 'f1c7e8ff-a3fb-492a-af55-8c0eb220da7a', '2026-11-22T14:31:38+00:00', 'city', '1', 'reserved', 'withdrawn', '1/3', 'da770bcada22b2e3c3646df8a674fd4c5629c3adb221c5c94952be6698f07370', 'addition-only/person', '1/1', '10/21', '5e5fd9f69602cd2c2c899fd1a4eb64d733057c31b7dec53e89defc607ae86291');
INSERT INTO leeward.entries VALUES (5, 'f1c7e8ff-a3fb-492a-af55-8c0eb220da7a', '2026-11-22T14:31:38+00:00', 'city', '1', 'withdrawn', 'withdrawn', '-1/3', '', 'addition-only/person', '1/1', '1/7', 'f978ef1a582ff37bd5a8cdad75b252bbaeba4675b3c2dab147995e4c8059f06c');
INSERT INTO leeward.entries VALUES (6, '1e682ef7-dc0b-4416-9f1e-9e6840dc4c7b', '2026-11-22T14:31:38+00:00', 'city', '1', 'reserved', 'taken over', '1/3', 'da770bcada22b2e3c3646df8a674fd4c5629c3adb221c5c94952be6698f07370', 'addition-only/person', '1/1', '10/21', '5eea9139541881509a6142181f16a731be9425d0932668af5beabab9c1b8e144');
INSERT INTO leeward.entries VALUES (7, '1e682ef7-dc0b-4416-9f1e-9e6840dc4c7b', '2026-11-22T14:31:38+00:00', 'city', '1', 'taken-over', 'taken over', '0/1', '', 'addition-only/person', '1/1', '10/21', '3745908efac08c9b477cbaf7330582cf0a9cb46f697bd8575c9f5e610edd2b62');
INSERT INTO leeward.entries VALUES (8, '1e682ef7-dc0b-4416-9f1e-9e6840dc4c7b', '2026-11-22T14:31:38+00:00', 'city', '1', 'released', 'taken over', '0/1', 'af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc', 'addition-only/person', '1/1', '10/21', 'f0f0cc7574f3cfdead1bacec7a44709eda66a70425f101387da58ff57c4bb267');
INSERT INTO leeward.entries VALUES (9, 'f91460a5-7d30-42b9-b5c1-6ce85a529a20', '2026-11-22T14:31:38+00:00', '', '', 'accepted-restored', '', '0/1', '', NULL, NULL, '0/1', 'f66bd261b935d4078f2f7e29bee29d7e80ddd956bc678c01c43ca70e46787b62');
INSERT INTO leeward.entries VALUES (10, 'cd6c9ab8-da0f-4e1c-98d2-e07db734aa63', '2026-11-22T14:31:38+00:00', 'city', '', 'set-cap', '', '0/1', '', 'addition-only/person', '3/1', '10/21', '441709d24df1e2c4f0eba934fe9a5f459c68e1ce907a4760cd0d09c512472fbb');
INSERT INTO leeward.entries VALUES (11, '8e20ed92-c11b-409c-bf15-e10d13589635', '2026-11-22T14:31:38+00:00', '', '', 'new-key', '', '0/1', '07e210b150206b3be256697a09558433', NULL, NULL, '0/1', 'a8a485badf5e8c6b99247ad839f38b51c610a8b5239d6113f8c0e2386b1d7d4b');
INSERT INTO leeward.entries VALUES (12, '054f13e6-9351-4dcc-a524-d77b4503ba8e', '2026-11-24T16:03:31+00:00', '', '', 'moved', 'postgresql://127.0.0.1:37319/g', '0/1', '', NULL, NULL, '0/1', '882b0ec83dd6950e4c3674fa50b64946dafca30507d8914c48c49b09c9170b46');
INSERT INTO leeward.entries VALUES (13, 'bc039f0d-d0a7-4118-b810-d37b0e4143db', '2026-11-24T16:03:32+00:00', 'city', '2', 'reserved', 'later', '1/3', '4b3123c31d3e36154491cf22d205f185e8f22d3e2c75452ff1acb00387e15abd', 'addition-only/person', '3/1', '17/21', '4381dc90e83efb23d808d88dc9ce48bdfbb5219bc86af74d1928922f68c3454a');
INSERT INTO leeward.entries VALUES (14, 'bc039f0d-d0a7-4118-b810-d37b0e4143db', '2026-11-24T16:03:32+00:00', 'city', '2', 'withdrawn', 'later', '-1/3', '', 'addition-only/person', '3/1', '10/21', 'c099e233c76c4e30a6d61004cc3915f4ff74ab9cf8f03a79cee17f52096b3c01');
INSERT INTO leeward.entries VALUES (15, 'f5fb3f1b-1013-45f4-9303-c4b34e2d9c61', '2026-11-24T16:03:32+00:00', 'city', '2', 'reserved', 'last', '1/3', '4b3123c31d3e36154491cf22d205f185e8f22d3e2c75452ff1acb00387e15abd', 'addition-only/person', '3/1', '17/21', '4bcb569a52ecca92504641580bd3c30b5562bbcf5c3a9e67965a61a7df3a2be9');
INSERT INTO leeward.entries VALUES (16, 'f5fb3f1b-1013-45f4-9303-c4b34e2d9c61', '2026-11-24T16:03:32+00:00', 'city', '2', 'released', 'last', '-2/15', 'bd87b2cda99df5b642ac9c0a97d3bc76f9921e2cce16058faa44bc954dbb065f', 'addition-only/person', '3/1', '71/105', '660118daf703a5bc984178f7b710bda71114231dd91f27ff4f54924bac370498');
INSERT INTO leeward.form VALUES (2);
INSERT INTO leeward.ledger VALUES ('895b10df-4165-4bb5-8668-4158aa5d2cee', '7fd9db55786aacc5c4ea2abce7fd882d');
ALTER TABLE ONLY leeward.charges
    ADD CONSTRAINT charges_dataset_version_key_hash_key UNIQUE (dataset, version, key_hash);
ALTER TABLE ONLY leeward.charges
    ADD CONSTRAINT charges_pkey PRIMARY KEY (id);
ALTER TABLE ONLY leeward.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (number);
ALTER TABLE ONLY leeward.ledger
    ADD CONSTRAINT ledger_pkey PRIMARY KEY (id);
CREATE INDEX entries_by_dataset ON leeward.entries USING btree (dataset, number);
CREATE INDEX entries_by_id ON leeward.entries USING btree (id);
