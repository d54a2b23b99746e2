import type { EventTypeDefinition } from '../event/event-types.js'

/** Types of the events that the log itself records. They are part of every registry. */
export const ownEventTypes = {
  'warn:audit_log:gap': {
    area: 'Audit log',
    description:
      'events are missing: rejected, dropped, or suppressed by a throttle without a later event that carries their count',
    data: ['count', 'first_at', 'last_at', 'losses'],
  },
  'warn:audit_log:damage': {
    area: 'Audit log',
    description: 'stored data is damaged: it differs from what was written, and was set aside',
    data: ['count', 'places'],
  },
  'warn:audit_log:clock': {
    area: 'Audit log',
    description:
      'the clock jumped ahead by more than 30 days, or differed by that much from the newest event at a start',
    data: ['reason', 'clock_time', 'expected_time'],
  },
  'info:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule removed old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
  },
  'error:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule failed to remove some or all old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
  },
  'info:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: "a rule refreshed the statistics of the database's query planner",
    data: ['rule', 'filters', 'removed_count', 'analyzed_tables', 'skipped_reason'],
  },
  'error:data_cleanup:statistics': {
    area: 'Data cleaning',
    description: "a rule could not refresh the statistics of the database's query planner",
    data: ['rule', 'filters', 'removed_count', 'analyzed_tables', 'skipped_reason'],
  },
} as const satisfies Readonly<Record<string, EventTypeDefinition>>
