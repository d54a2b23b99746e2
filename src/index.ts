export { bindActor, currentActor, withActor } from './recording/actor.js'
export type { Actor, ActorKind } from './recording/actor.js'
export { AuditLog } from './audit-log.js'
export type { AuditLogOptions } from './audit-log-options.js'
export { AuditLogs, type AuditLogsOptions, type LogKeysOptions } from './audit-logs.js'
export type { LogHistoryEntry, LogsHistoryOptions } from './logs/history-across.js'
export type { LogsListOptions, LogsPage } from './logs/list-across.js'
export type { LogsTail } from './logs/logs-tail.js'
export type { LogEvent, LogsOptions } from './logs/named-logs.js'
export type { LogsPagesOptions } from './logs/pages-across.js'
export type { LogsRangeOptions, LogsUntilOptions } from './logs/range.js'
export type { LogsTailOptions, OpenLogsTail } from './logs/tail-across.js'
export type { KeysOptions, LogStores } from './store/log-stores.js'
export type { Cleaning, CleaningPreviewOptions, CleaningRunOptions } from './cleaning/cleaning.js'
export type {
  ArchiveDirectory,
  ArchiveEvents,
  CleaningOptions,
  CleaningProgress,
  CleaningResult,
  CleaningRule,
  EventsRule,
  HostRemoved,
  HostRule,
  HostRunContext,
  LegalHold,
  OnCleaningProgress,
  StatisticsRule,
} from './cleaning/rule.js'
export { type ArchiveFault, type ArchiveReport, verifyArchive } from './cleaning/verify-archive.js'
export type { CleaningRuleStatus, CleaningStatus } from './cleaning/status.js'
export type { ClockWait } from './cleaning/age-clock.js'
export type {
  Bucket,
  Buckets,
  BucketsQuery,
  CountOptions,
  CountsQuery,
  EventCounts,
  Facet,
  LevelCounts,
  SeenAttribute,
  ValueCount,
} from './store/counts.js'
export type {
  EventGroup,
  EventGroups,
  GroupOptions,
  GroupValue,
  NumberSummary,
  Percentile,
} from './store/groups.js'
export {
  AuditLogError,
  type AuditLogErrorCode,
  type AuditLogErrorDetails,
  errorCodes,
} from './errors.js'
export type {
  AuditEvent,
  DraftThrottle,
  EventDraft,
  ImportedEvent,
  JsonObject,
  JsonValue,
} from './event/event.js'
export type { HistoryEntry, HistoryOptions, HistoryResource } from './history/history.js'
export type { SubjectRead } from './history/subject-reads.js'
export type {
  ReadCountOptions,
  ReadGetOptions,
  ReadGroupOptions,
  ReadHistoryOptions,
  ReadListOptions,
  ReadTailOptions,
} from './reading/log-reader.js'
export type { PersonalForm, PersonalOptions, SubjectOptions } from './reading/personal-values.js'
export type { RestrictedLog, Restriction } from './restricted-log.js'
export type { LogsRestriction, RestrictedLogs } from './restricted-logs.js'
export { revertPatch, type RevertOptions } from './history/revert-patch.js'
export type {
  AuditHealth,
  HealthOptions,
  HealthStatus,
  LedgerTrouble,
  WaitingRule,
} from './health/health.js'
export type { Ledger, LedgerStatus } from './ledger/ledger.js'
export type {
  EraseOptions,
  Erasure,
  EventsErasure,
  EventsToErase,
  SubjectErasure,
} from './privacy/erase-options.js'
export type { PersonalRule, SealedPart } from './event/personal.js'
export type { PrivacyOptions } from './privacy/options.js'
export type {
  ErasedKey,
  ErasureRequest,
  KeyErasure,
  MasterKey,
  Subject,
  SubjectKey,
  SubjectKeys,
} from './privacy/subject-keys.js'
export type { SubjectOption } from './privacy/subject-option.js'
export type { LedgerOptions, VerifySchedule } from './ledger/options.js'
export type { ReasonOptions, RestartOptions } from './ledger/changes.js'
export type {
  LedgerFinding,
  LedgerFindingKind,
  LedgerProgress,
  LedgerResult,
  LedgerVerification,
  LedgerVerifyOptions,
} from './ledger/verification.js'
export type {
  LedgerAddition,
  LedgerRemoval,
  LedgerState,
  LedgerStore,
  UnsealedEvents,
  UnsealedRequest,
} from './store/ledger.js'
export type { DiskHealth, IndexHealth, StoreHealth } from './store/health.js'
export type { Intent, IntentOptions, OutcomeOptions } from './recording/intent.js'
export type { Intents } from './recording/intents.js'
export type {
  RecordChangeOptions,
  RecordCustomOptions,
  RecordOptions,
  ReadRecordOptions,
  RecordSystemOptions,
} from './recording/record-options.js'
export type { CallThrottle } from './recording/throttle-rules.js'
export type { ClockDoubt } from './store/clock-guard.js'
export type { Damage } from './store/damage.js'
export type { Scrubbed, ScrubOptions, ScrubProgress } from './store/scrub.js'
export type {
  RebuildOptions,
  RebuildProgress,
  Verification,
  VerifyOptions,
  VerifyProgress,
} from './store/verification.js'
export { describeEvent, type DescribeOptions, sourceLabel } from './describing/describe-event.js'
export { english } from './describing/english.js'
export { german } from './describing/german.js'
export type { Family, Language, SentenceLanguage } from './describing/language.js'
export type { Sentence, SentencePart } from './describing/sentence.js'
export { sentenceText } from './describing/sentence-text.js'
export type { SourceLabel } from './describing/source-label.js'
export { visibleText } from './describing/visible-text.js'
export type { RandomBytes } from './event/event-id.js'
export type { CustomTypeDefinition, CustomTypes } from './event/custom-types.js'
export { defineEventTypes } from './define-event-types.js'
export {
  type EventData,
  type EventTypeDefinition,
  type EventTypes,
  type ReasonedTypes,
  splitEventType,
  type CollapseRule,
  type ThrottleRule,
  type UnreasonedTypes,
} from './event/event-types.js'
export type { QueryExplanation } from './explaining/explanation.js'
export type { CountMessage, ListMessage } from './explaining/query-channels.js'
export type { SlowQuery } from './explaining/slow-queries.js'
export type { QueryMethod, QueryStep, QueryTrace, StepTrace } from './store/trace.js'
export type { FailurePolicies, FailurePolicy } from './recording/failure-policy.js'
export type { ChangeData, RecordedChange } from './event/changes.js'
export type { Condition, EventQuery, Grouping, Sort } from './filter/ast.js'
export type { AttributeType } from './filter/attributes.js'
export type { AttributeTypes } from './filter/attribute-types.js'
export type { ItemAttributeTypes } from './filter/declared.js'
export { formatQuery } from './filter/format.js'
export type { FilterObject } from './filter/filter-object.js'
export type { Concealed } from './filter/conceal.js'
export type { Visible } from './filter/visible-filter.js'
export { parseQuery, type ParseOptions, type QueryObject } from './filter/parse.js'
export type { PredicateName } from './filter/predicates.js'
export type { QueryInput } from './filter/query-input.js'
export {
  type BatchLimits,
  type Channel,
  type DeliveryContext,
  DeliveryError,
  type DeliveryErrorDetails,
  type DeliveryFault,
  type Report,
  type ReportType,
} from './subscriptions/channel.js'
export type { ChannelDraft, ChannelKind, ChannelSetup } from './subscriptions/channel-kind.js'
export type {
  ChannelChange,
  ChannelDefinition,
  ChannelWithSecret,
  DisableOptions,
  ManageOptions,
  NotificationChannel,
  NotificationChannels,
  TestResult,
} from './subscriptions/notification-channel.js'
export type { DeliveryMessage } from './subscriptions/outcomes.js'
export type { Parked, ParkedOptions, Redriven } from './subscriptions/parked.js'
export type { LastError } from './subscriptions/states.js'
export type { SubscriptionStatus } from './subscriptions/status.js'
export type {
  Subscription,
  SubscriptionChange,
  SubscriptionDefinition,
  SubscriptionOptions,
} from './subscriptions/subscription.js'
export type { ReplayOptions, Subscriptions } from './subscriptions/methods.js'
export type { SubscriptionsOptions } from './subscriptions/subscriptions.js'
export type { EventTail, TailOptions } from './tail/tails.js'
export type { EventChange } from './tail/changes.js'
export type { Operation } from './event/json-patch.js'
export type { EventJournal, JournalEntry } from './store/journal.js'
export type { JsonLimits } from './event/json.js'
export type {
  Link,
  LinkDefinition,
  LinkKind,
  LinkPath,
  LinkTable,
  ResolveSource,
} from './event/links.js'
export type { ListSource, ListTable } from './lists/list-source.js'
export type { LiveEvent } from './live/live-events.js'
export type { AuditLogEvents } from './log-events.js'
export type { AuditLogStats, Outcome, OutcomeMessage, RecordMessage } from './recording/outcomes.js'
export type { OwnEvents, OwnEventsOptions } from './recording/own-events.js'
export type { RecorderOptions } from './recording/queue.js'
export type {
  Analysis,
  AppendOptions,
  ExcessEvents,
  EventPage,
  EventRange,
  EventStore,
  ImportResult,
  KeptBounds,
  ListOptions,
  LiveChange,
  OpenEvent,
  ReadOptions,
  RemovableRanges,
  RemoveOptions,
  StoreTuning,
  SuppressedCount,
  SuppressedReport,
  UpdateStateOptions,
  WaitOptions,
} from './store/store.js'
export {
  type Clock,
  formatTimestamp,
  type Microseconds,
  parseTimestamp,
} from './event/timestamp.js'
