import type { EventTypeDefinition, EventTypes } from '../event/event-types.js'

const SUBSCRIPTION_KEYS = [
  'subscription',
  'subscription_id',
  'channel',
  'filter',
  'changes',
  'changes_cut',
] as const
const OUTCOME_KEYS = [
  'subscription',
  'subscription_id',
  'channel',
  'attempt',
  'event_id',
  'parked_count',
  'kind',
] as const
const EMAIL_KEYS = [...OUTCOME_KEYS, 'sender', 'recipients', 'subject', 'message_id'] as const
const CHANNEL_KEYS = ['channel', 'channel_id', 'kind', 'changes', 'changes_cut'] as const
/* Default paths of `subscriptionRoutes` and `viewRoutes`. */
const SUBSCRIPTION = '/api/subscriptions/{subscription_id}'
const CHANNEL = '/api/notification_channels/{channel_id}'
const VIEW = '/api/views/{view_id}'
const VIEW_KEYS = ['view', 'view_id', 'query', 'shared', 'changes', 'changes_cut'] as const
/** Of the event of counted calls. */
const COUNT_KEYS = ['collapsed', 'count', 'first_at', 'last_at', 'interrupted'] as const
const REFUSAL_KEYS = [...COUNT_KEYS, 'usernames', 'usernames_more'] as const
const TEST_KEYS = ['accepted', 'status', 'fault'] as const

/** Of the event of a verification of the ledger. */
const VERIFICATION_KEYS = ['result', 'size', 'proved_size', 'event_count', 'finding_count'] as const

const RUN_KEYS = ['run'] as const
const CONFIG_KEYS = ['version', 'store', 'policies', 'rules', 'config_hash'] as const

/** The severity number of OpenTelemetry. */
const ERROR = 17

/* Events of OCSF, with the uids of their classes. */
const APPLICATION_ERROR = { class: 6008, activity: 1 } as const
const EMAIL = { class: 4009, activity: 1 } as const
const LOG_DELETION = { class: 1008, activity: 2 } as const

/** Types of the events that the log itself records. They are part of every registry. */
export const ownEventTypes = {
  'warn:audit_log:gap': {
    area: 'Audit log',
    description:
      'events are missing: rejected, dropped, or suppressed by a throttle without a later event that carries their count',
    data: ['count', 'first_at', 'last_at', 'losses'],
    sentences: {
      de: '| [**{count}** {count:Ereignis fehlt/Ereignisse fehlen}|Ereignisse fehlen] im Protokoll[ seit {first_at:time}]',
    },
  },
  'warn:audit_log:damage': {
    area: 'Audit log',
    description: 'stored data is damaged: it differs from what was written, and was set aside',
    data: ['count', 'places'],
    sentences: {
      de: '| [**{count}** beschädigte {count:Stelle/Stellen}|Beschädigte Daten] im Protokoll gefunden',
    },
  },
  'warn:audit_log:clock': {
    area: 'Audit log',
    description:
      'the clock jumped ahead by more than 30 days, or differed by that much from the newest event at a start',
    data: ['reason', 'clock_time', 'expected_time'],
    sentences: { de: '| Uhrzeit des Protokolls zweifelhaft: Abweichung von mehr als 30 Tagen' },
  },
  'info:audit_log:read': {
    area: 'Audit log',
    description:
      'a user read the log: the first read with these conditions, or the further reads within an hour',
    data: ['action', 'conditions', 'values', 'personal', ...COUNT_KEYS],
    sentence: 'read the log[: {action}][ by {conditions}][{personal=open} with personal data]',
    sentences: {
      de: 'hat das Protokoll gelesen[: {action}][, nach {conditions}][{personal=open}, mit personenbezogenen Daten]',
    },
    ocsf: { class: 1008 },
  },
  'info:audit_log:start': {
    area: 'Audit log',
    description: 'a process began to record in the log',
    data: [...RUN_KEYS, ...CONFIG_KEYS],
    sentence: '| recording started[: Daybook {version}][ on {store}]',
    sentences: { de: '| Aufzeichnung begonnen[: Daybook {version}][ auf {store}]' },
    ocsf: { class: 1008, activity: 6 },
  },
  'info:audit_log:stop': {
    area: 'Audit log',
    description: 'a process no longer records in the log; `unclean` if it ended without `close`',
    data: [...RUN_KEYS, 'config_hash', 'started_at', 'last_seen_at', 'unclean'],
    sentence: '| recording ended[{unclean=true} without close][, last seen {last_seen_at:time}]',
    sentences: {
      de: '| Aufzeichnung beendet[{unclean=true} ohne Schließen][, zuletzt {last_seen_at:time}]',
    },
    ocsf: { class: 1008, activity: 7 },
  },
  'info:audit_log:config': {
    area: 'Audit log',
    description: 'a process began with another configuration than the last one',
    data: [...RUN_KEYS, ...CONFIG_KEYS, 'earlier_config_hash'],
    sentence: '| the configuration of the log changed',
    sentences: { de: '| Konfiguration des Protokolls geändert' },
    ocsf: { class: 1008 },
  },
  'info:audit_log:import': {
    area: 'Audit log',
    description: 'events are imported into a log with a ledger; `events` identifies them',
    data: ['count', 'events'],
    sentence: '| import of {count} {count:event/events} began',
    sentences: { de: '| Import von {count} {count:Ereignis/Ereignissen} begonnen' },
    ocsf: { class: 1008 },
  },
  'info:audit_log:erase': {
    area: 'Audit log',
    description:
      'data of a person was erased: `subject` is the ref of the destroyed key, or `ids` are the removed events, and `remaining` says where bytes of them may be',
    data: ['subject', 'ids', 'count', 'erasure', 'remaining'],
    reason: 'required',
    sentence: 'erased personal data in {count} {count:event/events}[: {reason}]',
    sentences: {
      de: 'hat personenbezogene Daten in {count} {count:Ereignis/Ereignissen} gelöscht[: {reason}]',
    },
    ocsf: LOG_DELETION,
  },
  'info:audit_log:adopt': {
    area: 'Audit log',
    description: 'events that were in the log before its ledger were sealed',
    data: ['count'],
    sentence: '| {count} older {count:event/events} sealed in the ledger',
    sentences: {
      de: '| {count} {count:älteres Ereignis/ältere Ereignisse} im Hauptbuch versiegelt',
    },
    ocsf: { class: 1008 },
  },
  'info:audit_log:restart': {
    area: 'Audit log',
    description:
      'the ledger began anew with another key; `size` is the number of leaves of the one before',
    data: ['origin', 'size'],
    sentence: '| ledger began anew as {origin}',
    sentences: { de: '| Hauptbuch neu begonnen als {origin}' },
    ocsf: { class: 1008 },
  },
  'info:audit_log:acknowledge': {
    area: 'Audit log',
    description: 'findings of a verification of the ledger were explained',
    data: ['count'],
    sentence: '| {count} {count:finding/findings} of the ledger acknowledged',
    sentences: { de: '| {count} {count:Befund/Befunde} des Hauptbuchs bestätigt' },
    ocsf: { class: 1008 },
  },
  'info:audit_log:verification': {
    area: 'Audit log',
    description: 'a verification of the ledger found nothing that is not acknowledged',
    data: [...VERIFICATION_KEYS],
    sentence: '| ledger verified: {event_count} {event_count:event/events}',
    sentences: { de: '| Hauptbuch geprüft: {event_count} {event_count:Ereignis/Ereignisse}' },
    ocsf: { class: 1008 },
  },
  'error:audit_log:verification': {
    area: 'Audit log',
    description: 'a verification of the ledger found that events or the ledger were changed',
    data: [...VERIFICATION_KEYS],
    sentence: '| ledger verified: {finding_count} {finding_count:finding/findings}',
    sentences: { de: '| Hauptbuch geprüft: {finding_count} {finding_count:Befund/Befunde}' },
    ocsf: { class: 1008 },
  },
  'info:audit_log:collapsed': {
    area: 'Audit log',
    description:
      'more calls of types with a collapse than the log counts by their keys, counted together',
    data: [...COUNT_KEYS, 'types', 'types_more'],
    sentences: { de: '| weitere Ereignisse, gemeinsam gezählt' },
  },
  'error:audit_log:refused': {
    area: 'Audit log',
    description: 'an endpoint of the log refused a request with 401, 403 or 429',
    data: [...REFUSAL_KEYS],
    sentence: '| access to the audit log was refused[: {@reason}]',
    sentences: { de: '| Zugriff auf das Protokoll verweigert[: {@reason}]' },
  },
  'api:records:read': {
    area: 'Audit log',
    description: 'a record was read in code: `AuditLog.read`',
    data: ['access', 'purpose', ...COUNT_KEYS],
    sentence: 'read {@thing}[ for {purpose}] | {@thing} read[ for {purpose}]',
    sentences: {
      de: 'hat {@thing} gelesen[ ({purpose})] | {@thing} gelesen[ ({purpose})]',
    },
  },
  'info:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule removed old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
    ocsf: LOG_DELETION,
  },
  'error:data_cleanup:events': {
    area: 'Data cleaning',
    description: 'a rule failed to remove some or all old events',
    data: ['rule', 'filters', 'removed_count', 'before', 'archived_count', 'archive_file'],
    ocsf: LOG_DELETION,
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
  'api:event_filter:error': {
    area: 'Subscriptions',
    description: 'the filter of a subscription cannot be read, so nothing is delivered to it',
    data: OUTCOME_KEYS,
    sentence:
      '| filter of [subscription **{subscription}**|a subscription] could not be read[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
    sentences: {
      de: '| Filter [des Abonnements **{subscription}**|eines Abonnements] konnte nicht gelesen werden[: {@reason}]',
    },
  },
  'api:event_subscriber:error': {
    area: 'Subscriptions',
    description: 'a function rejected the events of a subscription; they are tried again',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence: '| [subscription **{subscription}**|subscriber] could not be notified[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
    sentences: {
      de: '| [Abonnement **{subscription}**|Abonnent] konnte nicht benachrichtigt werden[: {@reason}]',
    },
  },
  'api:notification:error': {
    area: 'Subscriptions',
    description: 'a channel did not accept the events of a subscription; they are tried again',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence:
      '| notification[ of subscription **{subscription}**] could not be delivered[: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
    sentences: {
      de: '| Benachrichtigung[ des Abonnements **{subscription}**] konnte nicht zugestellt werden[: {@reason}]',
    },
  },
  'api:event_processor:error': {
    area: 'Subscriptions',
    description: 'an event could not be delivered for a subscription, and was set aside',
    data: OUTCOME_KEYS,
    throttle: { period: { hours: 1 } },
    sentence: '| event could not be delivered[ to subscription **{subscription}**][: {@reason}]',
    severity: ERROR,
    ocsf: APPLICATION_ERROR,
    sentences: {
      de: '| Ereignis konnte[ dem Abonnement **{subscription}**] nicht zugestellt werden[: {@reason}]',
    },
  },
  'warn:notification_channel:disabled': {
    area: 'Subscriptions',
    description: 'events were not delivered for a subscription, because its channel is disabled',
    data: [...OUTCOME_KEYS, 'skipped_count'],
    throttle: { period: { hours: 1 }, scope: ['channel'] },
    sentence:
      '| events[ of subscription **{subscription}**] were not delivered, as [channel **{channel}**|its channel] is disabled',
    sentences: {
      de: '| Ereignisse[ des Abonnements **{subscription}**] nicht zugestellt, da [der Kanal **{channel}**|der Kanal] deaktiviert ist',
    },
  },
  'info:email:sent': {
    area: 'Subscriptions',
    description: 'an e-mail with the events of a subscription was sent',
    data: EMAIL_KEYS,
    sentence: '| email[ to **{recipients}**] sent[: “{subject}”]',
    ocsf: EMAIL,
    sentences: { de: '| E-Mail[ an **{recipients}**] gesendet[: “{subject}”]' },
  },
  'error:email:send_failed': {
    area: 'Subscriptions',
    description: 'an e-mail with the events of a subscription could not be sent',
    data: EMAIL_KEYS,
    sentence: '| email[ “{subject}”][ to **{recipients}**] could not be sent[: {@reason}]',
    ocsf: EMAIL,
    sentences: {
      de: '| E-Mail[ “{subject}”][ an **{recipients}**] konnte nicht gesendet werden[: {@reason}]',
    },
  },
  'warn:subscription:gap': {
    area: 'Subscriptions',
    description: 'events were cleaned before they were delivered for a subscription',
    data: ['subscription', 'subscription_id', 'channel', 'from', 'to', 'missed_count', 'exact'],
    sentence:
      '| {missed_count} {missed_count:event was/events were} removed before [subscription **{subscription}**|a subscription] delivered them',
    sentences: {
      de: '| {missed_count} {missed_count:Ereignis/Ereignisse} gelöscht, bevor [das Abonnement **{subscription}**|ein Abonnement] sie zugestellt hatte',
    },
  },
  'api:subscriptions:create': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription was created',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'created subscription **{subscription}**[ to {channel}] | subscription **{subscription}** was created',
    sentences: {
      de: 'hat das Abonnement **{subscription}**[ für {channel}] angelegt | Abonnement **{subscription}** angelegt',
    },
  },
  'api:subscriptions:update': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription was changed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'changed subscription **{subscription}** | subscription **{subscription}** was changed',
    sentences: {
      de: 'hat das Abonnement **{subscription}** geändert | Abonnement **{subscription}** geändert',
    },
  },
  'api:subscriptions:delete': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription was removed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'removed subscription **{subscription}** | subscription **{subscription}** was removed',
    sentences: {
      de: 'hat das Abonnement **{subscription}** gelöscht | Abonnement **{subscription}** gelöscht',
    },
  },
  'api:subscriptions:pause': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription was paused',
    data: SUBSCRIPTION_KEYS,
    sentence: 'paused subscription **{subscription}** | subscription **{subscription}** was paused',
    sentences: {
      de: 'hat das Abonnement **{subscription}** angehalten | Abonnement **{subscription}** angehalten',
    },
  },
  'api:subscriptions:resume': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription was resumed',
    data: SUBSCRIPTION_KEYS,
    sentence:
      'resumed subscription **{subscription}** | subscription **{subscription}** was resumed',
    sentences: {
      de: 'hat das Abonnement **{subscription}** fortgesetzt | Abonnement **{subscription}** fortgesetzt',
    },
  },
  'api:subscriptions:replay': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'a subscription delivers events again',
    data: [...SUBSCRIPTION_KEYS, 'from'],
    sentence:
      'replayed subscription **{subscription}**[ from {from}] | subscription **{subscription}** was replayed',
    sentences: {
      de: 'hat Ereignisse des Abonnements **{subscription}**[ ab {from}] erneut zugestellt | Ereignisse des Abonnements **{subscription}** erneut zugestellt',
    },
  },
  'api:subscriptions:redrive': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'parked events of a subscription were tried again',
    data: [...SUBSCRIPTION_KEYS, 'delivered', 'failed', 'missed'],
    sentence:
      'tried the parked events of subscription **{subscription}** again | parked events of subscription **{subscription}** were tried again',
    sentences: {
      de: 'hat die Zustellung zurückgestellter Ereignisse des Abonnements **{subscription}** erneut versucht | Zustellung zurückgestellter Ereignisse des Abonnements **{subscription}** erneut versucht',
    },
  },
  'api:subscriptions:discard': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'parked events of a subscription were discarded',
    data: [...SUBSCRIPTION_KEYS, 'count'],
    sentence:
      'discarded {count} parked {count:event/events} of subscription **{subscription}** | {count} parked {count:event/events} of subscription **{subscription}** discarded',
    sentences: {
      de: 'hat {count} {count:zurückgestelltes Ereignis/zurückgestellte Ereignisse} des Abonnements **{subscription}** verworfen | {count} {count:zurückgestelltes Ereignis/zurückgestellte Ereignisse} des Abonnements **{subscription}** verworfen',
    },
  },
  'api:subscriptions:test': {
    area: 'Subscriptions',
    source: SUBSCRIPTION,
    description: 'the channel of a subscription was tested with an event that is not stored',
    data: [...SUBSCRIPTION_KEYS, ...TEST_KEYS],
    sentence: 'tested subscription **{subscription}** | subscription **{subscription}** was tested',
    sentences: {
      de: 'hat das Abonnement **{subscription}** getestet | Abonnement **{subscription}** getestet',
    },
  },
  'api:notification_channels:create': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was created',
    data: CHANNEL_KEYS,
    sentence: 'created channel **{channel}** | channel **{channel}** was created',
    sentences: { de: 'hat den Kanal **{channel}** angelegt | Kanal **{channel}** angelegt' },
  },
  'api:notification_channels:update': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was changed',
    data: CHANNEL_KEYS,
    sentence: 'changed channel **{channel}** | channel **{channel}** was changed',
    sentences: { de: 'hat den Kanal **{channel}** geändert | Kanal **{channel}** geändert' },
  },
  'api:notification_channels:delete': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was removed',
    data: CHANNEL_KEYS,
    sentence: 'removed channel **{channel}** | channel **{channel}** was removed',
    sentences: { de: 'hat den Kanal **{channel}** gelöscht | Kanal **{channel}** gelöscht' },
  },
  'api:notification_channels:enable': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was enabled',
    data: CHANNEL_KEYS,
    sentence: 'enabled channel **{channel}** | channel **{channel}** was enabled',
    sentences: { de: 'hat den Kanal **{channel}** aktiviert | Kanal **{channel}** aktiviert' },
  },
  'api:notification_channels:disable': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was disabled, by a user or because its receiver is gone',
    data: [...CHANNEL_KEYS, 'reason'],
    sentence:
      'disabled channel **{channel}**[: {reason}] | channel **{channel}** was disabled[: {reason}]',
    sentences: {
      de: 'hat den Kanal **{channel}** deaktiviert[: {reason}] | Kanal **{channel}** deaktiviert[: {reason}]',
    },
  },
  'api:notification_channels:rotate_secret': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'the secret of a channel was replaced',
    data: CHANNEL_KEYS,
    sentence:
      'replaced the secret of channel **{channel}** | secret of channel **{channel}** was replaced',
    sentences: {
      de: 'hat den Schlüssel des Kanals **{channel}** ersetzt | Schlüssel des Kanals **{channel}** ersetzt',
    },
  },
  'api:notification_channels:test': {
    area: 'Subscriptions',
    source: CHANNEL,
    description: 'a channel was tested with an event that is not stored',
    data: [...CHANNEL_KEYS, ...TEST_KEYS],
    sentence: 'tested channel **{channel}** | channel **{channel}** was tested',
    sentences: { de: 'hat den Kanal **{channel}** getestet | Kanal **{channel}** getestet' },
  },
  'api:views:create': {
    area: 'Views',
    source: VIEW,
    description: 'a view was created',
    data: VIEW_KEYS,
    sentence: 'created view[ **{view}**] | view[ **{view}**] was created',
    sentences: { de: 'hat die Ansicht[ **{view}**] angelegt | Ansicht[ **{view}**] angelegt' },
  },
  'api:views:update': {
    area: 'Views',
    source: VIEW,
    description: 'a view was changed, shared or no longer shared',
    data: VIEW_KEYS,
    sentence: 'changed view[ **{view}**] | view[ **{view}**] was changed',
    sentences: { de: 'hat die Ansicht[ **{view}**] geändert | Ansicht[ **{view}**] geändert' },
  },
  'api:views:destroy': {
    area: 'Views',
    source: VIEW,
    description: 'a view was deleted',
    data: VIEW_KEYS,
    sentence: 'deleted view[ **{view}**] | view[ **{view}**] was deleted',
    sentences: { de: 'hat die Ansicht[ **{view}**] gelöscht | Ansicht[ **{view}**] gelöscht' },
  },
  'daybook:test': {
    area: 'Subscriptions',
    description: 'a test of a channel; it is delivered but not stored',
    data: ['channel', 'subscription'],
    sentence: '| test of channel **{channel}**[ for subscription **{subscription}**]',
    sentences: { de: '| Test des Kanals **{channel}**[ für das Abonnement **{subscription}**]' },
  },
} as const satisfies Readonly<Record<string, EventTypeDefinition>>

/**
 * The registry of a log: the given types, and the types of events that the log itself records. If both define a type,
 * the definition of the host applies, with the data keys of both.
 */
export function withOwnTypes<Types extends EventTypes>(types: Types): Types {
  const own: EventTypes = ownEventTypes
  const all: Record<string, EventTypeDefinition> = { ...own, ...types }
  for (const [type, { data: ownKeys }] of Object.entries(own)) {
    const given = all[type]!
    if (Array.isArray(given.data) && given.data !== ownKeys)
      all[type] = { ...given, data: [...new Set([...given.data, ...(ownKeys as string[])])] }
  }
  return all as Types
}
