"""Metrics of programs that Prometheus often watches beside what the stack makes; there are more.

Source: the metrics' lists of cAdvisor, the kubelet, Prometheus, its operator, Alertmanager, CoreDNS, kube-state-metrics
and the autoscaler, as generally known (2026-11). Of a name that is not among them only a slip of the pen is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NAMES: Final = {
    "kube_state_metrics_": """list_total watch_total shard_ordinal total_shards build_info config_hash
        last_config_reload_successful last_config_reload_success_timestamp_seconds""",
    "kube_pod_resource_": "request limit",
    "kubelet_": """active_pods certificate_manager_client_expiration_renew_errors
        certificate_manager_client_ttl_seconds certificate_manager_server_rotation_seconds
        certificate_manager_server_ttl_seconds cgroup_manager_duration_seconds cgroup_manager_duration_seconds_bucket
        cgroup_manager_duration_seconds_count containers_per_pod_count desired_pods evictions node_name
        node_startup_duration_seconds orphaned_runtime_pods_total pleg_discard_events pleg_last_seen_seconds
        pleg_relist_duration_seconds pleg_relist_duration_seconds_bucket pleg_relist_duration_seconds_count
        pleg_relist_interval_seconds pleg_relist_interval_seconds_bucket pod_start_duration_seconds_bucket
        pod_start_duration_seconds_count pod_start_sli_duration_seconds_bucket pod_worker_duration_seconds_bucket
        pod_worker_duration_seconds_count pod_worker_start_duration_seconds_bucket preemptions
        run_podsandbox_duration_seconds_bucket run_podsandbox_errors_total running_containers running_pods
        runtime_operations_duration_seconds_bucket runtime_operations_errors_total runtime_operations_total
        server_expiration_renew_errors started_containers_errors_total started_containers_total
        started_pods_errors_total started_pods_total volume_stats_available_bytes volume_stats_capacity_bytes
        volume_stats_health_status_abnormal volume_stats_inodes volume_stats_inodes_free volume_stats_inodes_used
        volume_stats_used_bytes working_pods""",
    "container_": """blkio_device_usage_total cpu_cfs_periods_total cpu_cfs_throttled_periods_total
        cpu_cfs_throttled_seconds_total cpu_load_average_10s cpu_schedstat_run_periods_total
        cpu_schedstat_run_seconds_total cpu_schedstat_runqueue_seconds_total cpu_system_seconds_total
        cpu_usage_seconds_total cpu_user_seconds_total file_descriptors fs_inodes_free fs_inodes_total fs_io_current
        fs_io_time_seconds_total fs_io_time_weighted_seconds_total fs_limit_bytes fs_read_seconds_total
        fs_reads_bytes_total fs_reads_merged_total fs_reads_total fs_sector_reads_total fs_sector_writes_total
        fs_usage_bytes fs_write_seconds_total fs_writes_bytes_total fs_writes_merged_total fs_writes_total
        hugetlb_failcnt hugetlb_max_usage_bytes hugetlb_usage_bytes last_seen memory_cache memory_failcnt
        memory_failures_total memory_kernel_usage memory_mapped_file memory_max_usage_bytes memory_rss memory_swap
        memory_total_active_file_bytes memory_total_inactive_file_bytes memory_usage_bytes memory_working_set_bytes
        network_receive_bytes_total network_receive_errors_total network_receive_packets_dropped_total
        network_receive_packets_total network_tcp6_usage_total network_tcp_usage_total network_transmit_bytes_total
        network_transmit_errors_total network_transmit_packets_dropped_total network_transmit_packets_total
        network_udp6_usage_total network_udp_usage_total oom_events_total pressure_cpu_stalled_seconds_total
        pressure_cpu_waiting_seconds_total pressure_io_stalled_seconds_total pressure_io_waiting_seconds_total
        pressure_memory_stalled_seconds_total pressure_memory_waiting_seconds_total processes sockets spec_cpu_period
        spec_cpu_quota spec_cpu_shares spec_memory_limit_bytes spec_memory_reservation_limit_bytes
        spec_memory_swap_limit_bytes start_time_seconds tasks_state threads threads_max ulimits_soft""",
    "alertmanager_": """alerts alerts_invalid_total alerts_received_total build_info cluster_enabled
        cluster_failed_peers cluster_health_score cluster_members cluster_messages_queued
        cluster_messages_received_total cluster_messages_sent_total cluster_peer_info cluster_peers_joined_total
        cluster_peers_left_total cluster_reconnections_failed_total cluster_reconnections_total config_hash
        config_last_reload_success_timestamp_seconds config_last_reload_successful dispatcher_aggregation_groups
        dispatcher_alert_processing_duration_seconds_count inhibitor_alerts integrations marked_alerts
        nflog_gc_duration_seconds_count nflog_queries_total notification_latency_seconds_bucket
        notification_latency_seconds_count notification_latency_seconds_sum notification_requests_failed_total
        notification_requests_total notifications_failed_total notifications_suppressed_total notifications_total
        oversized_gossip_message_dropped_total peer_position receivers silences silences_queries_total""",
    "prometheus_operator_": """build_info kubernetes_client_http_requests_total list_operations_failed_total
        list_operations_total managed_resources node_address_lookup_errors_total node_address_lookups_total
        node_syncs_failed_total node_syncs_total ready reconcile_duration_seconds_bucket reconcile_errors_total
        reconcile_operations_total reconcile_sts_delete_create_total spec_replicas spec_shards
        status_update_errors_total status_update_operations_total syncs triggered_total watch_operations_failed_total
        watch_operations_total""",
    "prometheus_": """api_remote_read_queries build_info config_last_reload_success_timestamp_seconds
        config_last_reload_successful engine_queries engine_queries_concurrent_max engine_query_duration_seconds
        http_request_duration_seconds_bucket http_request_duration_seconds_count http_request_duration_seconds_sum
        http_requests_total http_response_size_bytes_bucket notifications_alertmanagers_discovered
        notifications_dropped_total notifications_errors_total notifications_latency_seconds
        notifications_queue_capacity notifications_queue_length notifications_sent_total ready
        remote_storage_bytes_total remote_storage_dropped_samples_total remote_storage_enqueue_retries_total
        remote_storage_exemplars_total remote_storage_failed_samples_total remote_storage_highest_timestamp_in_seconds
        remote_storage_max_samples_per_send remote_storage_pending_samples
        remote_storage_queue_highest_sent_timestamp_seconds remote_storage_queue_highest_timestamp_seconds
        remote_storage_retried_samples_total remote_storage_samples_dropped_total remote_storage_samples_failed_total
        remote_storage_samples_in_total remote_storage_samples_pending remote_storage_samples_retried_total
        remote_storage_samples_total remote_storage_sent_batch_duration_seconds_bucket remote_storage_shard_capacity
        remote_storage_shards remote_storage_shards_desired remote_storage_shards_max remote_storage_shards_min
        remote_storage_string_interner_zero_reference_releases_total remote_storage_succeeded_samples_total
        rule_evaluation_duration_seconds rule_evaluation_failures_total rule_evaluations_total
        rule_group_duration_seconds rule_group_duration_seconds_count rule_group_interval_seconds
        rule_group_iterations_missed_total rule_group_iterations_total rule_group_last_duration_seconds
        rule_group_last_evaluation_samples rule_group_last_evaluation_timestamp_seconds rule_group_rules
        sd_configs_failed_total sd_discovered_targets sd_kubernetes_events_total sd_kubernetes_failures_total
        sd_refresh_failures_total sd_received_updates_total sd_updates_total target_interval_length_seconds
        target_interval_length_seconds_count target_interval_length_seconds_sum target_metadata_cache_bytes
        target_metadata_cache_entries target_scrape_pool_exceeded_label_limits_total
        target_scrape_pool_exceeded_target_limit_total target_scrape_pool_reloads_failed_total
        target_scrape_pool_reloads_total target_scrape_pool_sync_total target_scrape_pool_targets
        target_scrape_pools_failed_total target_scrape_pools_total target_scrapes_cache_flush_forced_total
        target_scrapes_exceeded_body_size_limit_total target_scrapes_exceeded_native_histogram_bucket_limit_total
        target_scrapes_exceeded_sample_limit_total target_scrapes_exemplar_out_of_order_total
        target_scrapes_sample_duplicate_timestamp_total target_scrapes_sample_out_of_bounds_total
        target_scrapes_sample_out_of_order_total target_sync_failed_total target_sync_length_seconds
        target_sync_length_seconds_sum tsdb_blocks_loaded tsdb_checkpoint_creations_failed_total
        tsdb_checkpoint_deletions_failed_total tsdb_compactions_failed_total tsdb_compactions_total
        tsdb_compactions_triggered_total tsdb_head_chunks tsdb_head_chunks_created_total
        tsdb_head_gc_duration_seconds_sum tsdb_head_max_time_seconds tsdb_head_min_time_seconds
        tsdb_head_samples_appended_total tsdb_head_series tsdb_head_series_created_total
        tsdb_head_series_removed_total tsdb_head_truncations_failed_total tsdb_lowest_timestamp_seconds
        tsdb_out_of_order_samples_total tsdb_reloads_failures_total tsdb_reloads_total tsdb_retention_limit_bytes
        tsdb_size_retentions_total tsdb_storage_blocks_bytes tsdb_symbol_table_size_bytes tsdb_time_retentions_total
        tsdb_vertical_compactions_total tsdb_wal_corruptions_total tsdb_wal_fsync_duration_seconds
        tsdb_wal_page_flushes_total tsdb_wal_storage_size_bytes tsdb_wal_truncate_duration_seconds_sum
        tsdb_wal_truncations_failed_total tsdb_wal_writes_failed_total web_federation_errors_total""",
    "cluster_autoscaler_": """unschedulable_pods_count nodes_count failed_scale_ups_total scaled_up_nodes_total
        scaled_down_nodes_total cluster_safe_to_autoscale errors_total scaled_up_gpu_nodes_total""",
    "coredns_": """build_info cache_entries cache_evictions_total cache_hits_total cache_misses_total
        cache_requests_total dns_request_duration_seconds_bucket dns_request_duration_seconds_count
        dns_request_size_bytes_bucket dns_requests_total dns_response_size_bytes_bucket dns_responses_total
        forward_healthcheck_broken_total forward_healthcheck_failures_total forward_max_concurrent_rejects_total
        forward_request_duration_seconds_bucket forward_requests_total forward_responses_total
        health_request_duration_seconds_bucket health_request_failures_total hosts_reload_timestamp_seconds
        kubernetes_dns_programming_duration_seconds_bucket panics_total plugin_enabled
        proxy_request_duration_seconds_bucket proxy_request_duration_seconds_count reload_failed_total""",
}  # fmt: skip

OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    prefix: tuple(f"{prefix}{name}" for name in names.split()) for prefix, names in _NAMES.items()
}
"""Whole names by their beginning."""
