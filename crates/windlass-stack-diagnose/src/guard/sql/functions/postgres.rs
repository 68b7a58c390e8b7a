//! PostgreSQL's words: which built-in functions may be called, which words before a parenthesis
//! are syntax, and which words are no plain names.
//!
//! A function is on the list if it computes its result from its arguments or reads the catalogue
//! or the server's statistics, and nothing else. Not on it: what runs SQL given as text, reads
//! files, acts on sessions, locks, sequences, settings, transactions or replication, waits, or is
//! internal (input, output, operators' own functions). A test against a real server compares the
//! list with its catalogue.

/// Functions that may be called, by group.
pub(super) const FUNCTIONS: &[&str] = &[
    // Aggregates.
    "any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop \
     covar_samp every json_agg json_agg_strict json_object_agg json_object_agg_strict \
     json_object_agg_unique json_object_agg_unique_strict jsonb_agg jsonb_agg_strict \
     jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique \
     jsonb_object_agg_unique_strict max min mode percentile_cont percentile_disc range_agg \
     range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope \
     regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp \
     variance xmlagg",
    // Windows.
    "cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank \
     row_number",
    // Numbers.
    "abs acos acosd acosh asin asind asinh atan atan2 atan2d atand atanh cbrt ceil ceiling cos \
     cosd cosh cot cotd degrees div erf erfc exp factorial floor gamma gcd lcm lgamma ln log log10 \
     min_scale mod pi pow power radians random random_normal round scale sign sin sind sinh sqrt \
     tan tand tanh trim_scale trunc width_bucket",
    // Text and bytes.
    "ascii bit_count bit_length btrim casefold char_length character_length chr concat concat_ws \
     convert convert_from convert_to crc32 crc32c decode encode format get_bit get_byte initcap \
     is_normalized left length like_escape lower lpad ltrim md5 normalize octet_length parse_ident \
     quote_ident quote_literal quote_nullable regexp_count regexp_instr regexp_like regexp_match \
     regexp_matches regexp_replace regexp_split_to_array regexp_split_to_table regexp_substr \
     repeat replace reverse right rpad rtrim set_bit set_byte sha224 sha256 sha384 sha512 \
     split_part starts_with string_to_array string_to_table strpos substr to_ascii to_bin to_hex \
     to_oct translate unicode_assigned unicode_version unistr upper",
    // Dates and times.
    "age clock_timestamp date_add date_bin date_part date_subtract date_trunc isfinite \
     justify_days justify_hours justify_interval make_date make_interval make_time make_timestamp \
     make_timestamptz now statement_timestamp timeofday timezone to_char to_date to_number \
     to_timestamp transaction_timestamp",
    // JSON.
    "array_to_json json json_array json_array_elements json_array_elements_text json_array_length \
     json_arrayagg json_build_array json_build_object json_each json_each_text json_exists \
     json_extract_path json_extract_path_text json_object json_object_keys json_objectagg \
     json_populate_record json_populate_recordset json_query json_scalar json_serialize \
     json_strip_nulls json_table json_to_record json_to_recordset json_typeof json_value \
     jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array \
     jsonb_build_object jsonb_each jsonb_each_text jsonb_extract_path jsonb_extract_path_text \
     jsonb_insert jsonb_object jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz \
     jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array \
     jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz \
     jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set \
     jsonb_set_lax jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof row_to_json \
     to_json to_jsonb",
    // XML.
    "xml_is_well_formed xml_is_well_formed_content xml_is_well_formed_document xmlcomment xmltext \
     xpath xpath_exists",
    // Arrays, sets of rows, enumerations.
    "array_append array_cat array_dims array_fill array_length array_lower array_ndims \
     array_position array_positions array_prepend array_remove array_replace array_reverse \
     array_sample array_shuffle array_sort array_to_string array_upper cardinality enum_first \
     enum_last enum_range generate_series generate_subscripts num_nonnulls num_nulls trim_array \
     unnest",
    // Ranges.
    "datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc \
     lower_inf multirange nummultirange numrange range_merge tsmultirange tsrange \
     tstzmultirange tstzrange upper_inc upper_inf",
    // Text search.
    "array_to_tsvector get_current_ts_config json_to_tsvector jsonb_to_tsvector numnode \
     phraseto_tsquery plainto_tsquery querytree setweight strip to_tsquery to_tsvector ts_debug \
     ts_delete ts_filter ts_headline ts_lexize ts_parse ts_rank ts_rank_cd ts_token_type \
     tsquery_phrase tsvector_to_array websearch_to_tsquery",
    // Addresses and shapes.
    "abbrev area box broadcast center circle diagonal diameter family height host hostmask \
     inet_merge inet_same_family isclosed isopen line lseg macaddr8_set7bit masklen netmask network \
     npoints path pclose point polygon popen radius set_masklen slope width",
    // Types written as functions, and identifiers.
    "bool bpchar date float4 float8 gen_random_uuid inet int2 int4 int8 macaddr money name oid \
     pg_lsn regclass text timestamptz timetz uuid_extract_timestamp uuid_extract_version uuidv4 \
     uuidv7 varbit xid",
    // The session and the server.
    "current_database current_query current_schema current_schemas current_setting \
     getdatabaseencoding inet_client_addr inet_client_port inet_server_addr inet_server_port \
     pg_backend_pid pg_blocking_pids pg_client_encoding pg_conf_load_time pg_control_checkpoint \
     pg_control_init pg_control_recovery pg_control_system pg_current_wal_flush_lsn \
     pg_current_wal_insert_lsn pg_current_wal_lsn pg_encoding_to_char pg_get_keywords \
     pg_get_replication_slots pg_get_wal_replay_pause_state pg_is_in_recovery \
     pg_is_other_temp_schema pg_is_wal_replay_paused pg_last_committed_xact \
     pg_last_wal_receive_lsn pg_last_wal_replay_lsn pg_last_xact_replay_timestamp \
     pg_listening_channels pg_lock_status pg_my_temp_schema pg_notification_queue_usage \
     pg_postmaster_start_time pg_safe_snapshot_blocking_pids pg_settings_get_flags \
     pg_show_all_settings pg_timezone_abbrevs pg_timezone_names pg_trigger_depth pg_wal_lsn_diff \
     pg_walfile_name pg_walfile_name_offset version",
    // Transactions that are over or seen; none that would start one.
    "mxid_age pg_current_snapshot pg_current_xact_id_if_assigned pg_snapshot_xip \
     pg_snapshot_xmax pg_snapshot_xmin pg_visible_in_snapshot pg_xact_commit_timestamp \
     pg_xact_status txid_current_if_assigned txid_current_snapshot txid_snapshot_xip \
     txid_snapshot_xmax txid_snapshot_xmin txid_status txid_visible_in_snapshot",
    // The catalogue.
    "acldefault aclexplode col_description format_type has_any_column_privilege \
     has_column_privilege has_database_privilege has_foreign_data_wrapper_privilege \
     has_function_privilege has_language_privilege has_parameter_privilege has_schema_privilege \
     has_sequence_privilege has_server_privilege has_table_privilege has_tablespace_privilege \
     has_type_privilege makeaclitem obj_description oidvectortypes pg_char_to_encoding \
     pg_collation_for pg_collation_is_visible pg_column_compression pg_column_is_updatable \
     pg_column_size pg_column_toast_chunk_id pg_conversion_is_visible pg_describe_object \
     pg_filenode_relation pg_function_is_visible pg_get_acl pg_get_catalog_foreign_keys \
     pg_get_constraintdef pg_get_expr pg_get_function_arg_default pg_get_function_arguments \
     pg_get_function_identity_arguments pg_get_function_result pg_get_function_sqlbody \
     pg_get_functiondef pg_get_indexdef pg_get_object_address pg_get_partition_constraintdef \
     pg_get_partkeydef pg_get_publication_tables pg_get_replica_identity_index pg_get_ruledef \
     pg_get_serial_sequence pg_get_statisticsobjdef pg_get_statisticsobjdef_columns \
     pg_get_statisticsobjdef_expressions pg_get_triggerdef pg_get_userbyid pg_get_viewdef \
     pg_has_role pg_identify_object pg_identify_object_as_address pg_index_column_has_property \
     pg_index_has_property pg_indexam_has_property pg_indexam_progress_phasename \
     pg_mcv_list_items pg_opclass_is_visible pg_operator_is_visible pg_opfamily_is_visible \
     pg_options_to_table pg_partition_ancestors pg_partition_root pg_partition_tree \
     pg_relation_filenode pg_relation_filepath pg_relation_is_publishable \
     pg_relation_is_updatable pg_sequence_last_value pg_sequence_parameters \
     pg_statistics_obj_is_visible pg_table_is_visible pg_tablespace_databases \
     pg_tablespace_location pg_ts_config_is_visible pg_ts_dict_is_visible pg_ts_parser_is_visible \
     pg_ts_template_is_visible pg_type_is_visible pg_typeof row_security_active \
     shobj_description to_regclass to_regcollation to_regnamespace \
     to_regoper to_regoperator to_regproc to_regprocedure to_regrole to_regtype to_regtypemod",
    // Sizes.
    "pg_database_size pg_indexes_size pg_relation_size pg_size_bytes pg_size_pretty pg_table_size \
     pg_tablespace_size pg_total_relation_size",
    // Syntax that looks like a call, and words that can also be the name of a user's function:
    // the server is asked whether there is such a function.
    "bernoulli by columns conflict cube escape explain filter first groups ilike insert join key like \
     materialized merge_action next over overlaps overlay passing range repeatable rollup rows second set \
     sets substring system value varying verbose within zone",
];

/// Whole families: what the statistics are made of.
pub(super) const FAMILIES: &[&str] = &["pg_stat_get_"];

/// Words that no function has unless its name is quoted; a parenthesis after one calls nothing,
/// or the function the grammar names. `operator` is checked before. Not among them is `treat`,
/// which calls the function of the type's name.
pub(super) const SYNTAX: &str = "\
    all analyse analyze and any array as asc asymmetric both case cast check collate column \
    constraint create current_catalog current_date current_role current_time current_timestamp \
    current_user default deferrable desc distinct do else end except false fetch for foreign from \
    grant group having in initially intersect into lateral leading limit localtime localtimestamp \
    not null offset on only or order placing primary references returning select session_user some \
    symmetric table then to trailing true union unique user using variadic when where window with \
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest \
    grouping inout int integer interval least national nchar none nullif numeric operator \
    out position precision real row setof smallint time timestamp trim values \
    varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi \
    xmlroot xmlserialize xmltable";

/// Every word with a meaning in the grammar of PostgreSQL 10 to 18. After one of them an
/// expression may begin; after any other name only an alias can.
pub(super) const KEYWORDS: &str = "\
    abort absent absolute access action add admin after aggregate all also alter always analyse \
    analyze and any array as asc asensitive assertion assignment asymmetric at atomic attach \
    attribute authorization backward before begin between bigint binary bit boolean both breadth by \
    cache call called cascade cascaded case cast catalog chain char character characteristics check \
    checkpoint class close cluster coalesce collate collation column columns comment comments \
    commit committed compression concurrently conditional configuration conflict connection \
    constraint constraints content continue conversion copy cost create cross csv cube current \
    current_catalog current_date current_role current_schema current_time current_timestamp \
    current_user cursor cycle data database day deallocate dec decimal declare default defaults \
    deferrable deferred definer delete delimiter delimiters depends depth desc detach dictionary \
    disable discard distinct do document domain double drop each else empty enable encoding \
    encrypted end enforced enum error escape event except exclude excluding exclusive execute \
    exists explain expression extension external extract false family fetch filter finalize first \
    float following for force foreign format forward freeze from full function functions generated \
    global grant granted greatest group grouping groups handler having header hold hour identity \
    if ignore ilike immediate immutable implicit import in include including increment indent index \
    indexes inherit inherits initially inline inner inout input insensitive insert instead int \
    integer intersect interval into invoker is isnull isolation join json json_array \
    json_arrayagg json_exists json_object json_objectagg json_query json_scalar json_serialize \
    json_table json_value keep key keys label language large last lateral leading leakproof least \
    left level like limit listen load local localtime localtimestamp location lock locked logged \
    lsn mapping match matched materialized maxvalue merge merge_action method minute minvalue mode \
    month move name names national natural nchar nested new next nfc nfd nfkc nfkd no none \
    normalize normalized not nothing notify notnull nowait null nullif nulls numeric object objects \
    of off offset oids old omit on only operator option options or order ordinality others out \
    outer over overlaps overlay overriding owned owner parallel parameter parser partial partition \
    passing password path period placing plan plans policy position preceding precision prepare \
    prepared preserve primary prior privileges procedural procedure procedures program publication \
    quote quotes range read real reassign recheck recursive ref references referencing refresh \
    reindex relative release rename repeatable replace replica reset respect restart restrict \
    return returning returns revoke right role rollback rollup routine routines row rows rule \
    savepoint scalar schema schemas scroll search second security select sequence sequences \
    serializable server session session_user set setof sets share show similar simple skip smallint \
    snapshot some source split sql stable standalone start statement statistics stdin stdout \
    storage stored strict string strip subscription substring support symmetric sysid system \
    system_user table tables tablesample tablespace target temp template temporary text then ties \
    time timestamp to trailing transaction transform treat trigger trim true truncate trusted type \
    types uescape unbounded uncommitted unconditional unencrypted union unique unknown unlisten \
    unlogged until update user using vacuum valid validate validator value values varchar variadic \
    varying verbose version view views virtual volatile wait when where whitespace window with \
    within without work wrapper write xml xmlattributes xmlconcat xmlelement xmlexists xmlforest \
    xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable year yes zone";
