//! MySQL's and MariaDB's words: which built-in functions may be called, and which words before a
//! parenthesis are syntax.
//!
//! A function is on the list if it computes its result from its arguments or reads the session.
//! Not on it: what reads files, takes locks, waits, works for the sake of working, advances a
//! sequence, sets variables, or manages replication, keys and components; and what users or
//! plug-ins added.

/// Functions that may be called, by group.
pub(super) const FUNCTIONS: &[&str] = &[
    // Aggregates and windows.
    "any_value avg bit_and bit_or bit_xor count cume_dist dense_rank first_value group_concat \
     grouping json_arrayagg json_objectagg lag last_value lead max median min nth_value ntile \
     percent_rank percentile_cont percentile_disc rank row_number std stddev stddev_pop \
     stddev_samp sum var_pop var_samp variance",
    // Numbers.
    "abs acos asin atan atan2 bit_count ceil ceiling conv cos cot crc32 crc32c degrees exp floor \
     greatest least ln log log10 log2 mod pi pow power radians rand round sign sin sqrt tan \
     truncate",
    // Text and bytes.
    "aes_decrypt aes_encrypt ascii bin bit_length char char_length character_length charset chr \
     coercibility collation compress concat concat_ws convert elt export_set field find_in_set \
     format format_bytes format_pico_time from_base64 hex insert instr lcase left length \
     length_b locate lower lpad ltrim make_set md5 mid natural_sort_key oct octet_length ord position \
     quote random_bytes regexp_instr regexp_like regexp_replace regexp_substr repeat replace \
     reverse right rpad rtrim sformat sha sha1 sha2 soundex space strcmp substr substring \
     substring_index to_base64 to_char trim ucase uncompress uncompressed_length unhex upper \
     weight_string",
    // Dates and times.
    "add_months adddate addtime convert_tz curdate current_date current_time current_timestamp \
     curtime date date_add date_format date_sub datediff day dayname dayofmonth dayofweek dayofyear \
     extract from_days from_unixtime get_format hour last_day localtime localtimestamp makedate \
     maketime microsecond minute month monthname months_between now period_add period_diff quarter \
     sec_to_time second str_to_date subdate subtime sysdate time time_format time_to_sec timediff \
     timestamp timestampadd timestampdiff to_days to_seconds unix_timestamp utc_date utc_time \
     utc_timestamp week weekday weekofyear year yearweek",
    // Conditions and types.
    "cast coalesce decode decode_oracle if ifnull interval isnull nullif nvl nvl2 \
     bin_to_uuid inet6_aton inet6_ntoa inet_aton inet_ntoa is_ipv4 is_ipv4_compat is_ipv4_mapped \
     is_ipv6 is_uuid uuid uuid_to_bin default values name_const",
    // JSON and XML.
    "extractvalue json_array json_array_append json_array_insert json_compact json_contains \
     json_contains_path json_depth json_detailed json_equals json_exists json_extract json_insert \
     json_keys json_length json_loose json_merge json_merge_patch json_merge_preserve \
     json_normalize json_object json_overlaps json_pretty json_query json_quote json_remove \
     json_replace json_schema_valid json_schema_validation_report json_search json_set \
     json_storage_free json_storage_size json_table json_type json_unquote json_valid json_value \
     updatexml",
    // The session and the server.
    "connection_id current_role current_user database found_rows last_insert_id row_count schema \
     session_user system_user user version gtid_subset gtid_subtract ps_current_thread_id \
     ps_thread_id statement_digest statement_digest_text",
    // Shapes.
    "st_area st_asbinary st_asgeojson st_astext st_aswkb st_aswkt st_buffer st_centroid st_contains \
     st_convexhull st_crosses st_difference st_dimension st_disjoint st_distance \
     st_distance_sphere st_endpoint st_envelope st_equals st_exteriorring st_geohash \
     st_geomfromgeojson st_geomfromtext st_geomfromwkb st_geometryfromtext st_geometryn \
     st_geometrytype st_interiorringn st_intersection st_intersects st_isclosed st_isempty \
     st_issimple st_isvalid st_latfromgeohash st_latitude st_length st_linefromtext \
     st_longfromgeohash st_longitude st_makeenvelope st_numgeometries st_numinteriorring \
     st_numpoints st_overlaps st_pointfromgeohash st_pointfromtext st_pointn st_polyfromtext \
     st_simplify st_srid st_startpoint st_swapxy st_symdifference st_touches st_transform st_union \
     st_validate st_within st_x st_y point linestring polygon multipoint multilinestring \
     multipolygon geometrycollection mbrcontains mbrcoveredby mbrcovers mbrdisjoint mbrequals \
     mbrintersects mbroverlaps mbrtouches mbrwithin",
    // Syntax that looks like a call and is no reserved word: the server is asked whether a user
    // has a function of that name.
    "against any array bit columns datetime duplicate escape except intersect lateral nested of \
     offset over rollup row rows some sounds value window",
];

/// Reserved words: a parenthesis after one calls nothing, or the function the grammar names.
pub(super) const SYNTAX: &str = "\
    all and as asc between bigint binary blob both by case collate column cross current_date \
    current_time current_timestamp current_user dec decimal delete desc describe distinct \
    distinctrow div double dual else exists explain false float for force from fulltext \
    group having ignore in index inner int integer into is join key keys leading \
    left like limit lines match natural not null numeric on or order outer partition primary \
    range regexp right rlike select separator set smallint straight_join table then \
    tinyint trailing true union unique unsigned update use using values varbinary varchar varying \
    when where with xor";

/// Optimizer hints that choose a plan and change no setting.
pub(in crate::guard::sql) const HINTS: &str = "\
    bka bnl derived_condition_pushdown group_index hash_join index index_merge join_fixed_order \
    join_index join_order join_prefix join_suffix merge mrr no_bka no_bnl \
    no_derived_condition_pushdown no_group_index no_hash_join no_icp no_index no_index_merge \
    no_join_index no_merge no_mrr no_order_index no_range_optimization no_semijoin no_skip_scan \
    order_index qb_name semijoin skip_scan subquery";
