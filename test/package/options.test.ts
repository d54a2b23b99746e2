import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import {
  AuditLog,
  AuditLogs,
  AuditLogError,
  type Channel,
  defineEventTypes,
  DeliveryError,
  describeEvent,
  parseQuery,
  revertPatch,
  sourceLabel,
  verifyArchive,
  withActor,
} from 'daybook'
import * as channels from 'daybook/channels'
import * as express from 'daybook/express'
import { exportEvents, exportEventsOfLogs } from 'daybook/export'
import * as fastify from 'daybook/fastify'
import * as fetching from 'daybook/fetch'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
import { checkConsistency, checkProof, keyFile } from 'daybook/ledger'
import * as hono from 'daybook/hono'
import * as koa from 'daybook/koa'
import { memoryLogs, memoryStore, memorySubjectKeys } from 'daybook/memory'
import * as node from 'daybook/node'
import { parquetWriter, toParquet } from 'daybook/parquet'
import * as postgres from 'daybook/postgres'
import * as sqlite from 'daybook/sqlite'
import { storeConformance } from 'daybook/testing'
import { workflowEventTypesFor } from 'daybook/workflow'
import Fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import * as h3 from '../support/h3/index.js'
import { optionTypesOf } from '../support/option-types.js'

const channel: Channel = { deliver: () => {} }
const filter = { type_eq: 'a' }
const audit = new AuditLog({
  store: memoryStore(),
  types: { 'a:b': {} },
  subscriptions: { deliver: false, channels: { channel }, kinds: { slack: channels.slackKind() } },
})
const logs = new AuditLogs({ stores: memoryLogs(), types: {} })
afterAll(async () => {
  await audit.close()
  await logs.close()
})

const event = (await audit.recordSystem('a:b'))!
const live = await audit.recordLive('a:b')
const { subscriptions, cleaning } = audit

/** Takes options of an unknown type, as JavaScript does. */
type Give = (given: never) => unknown

interface Taken {
  /** The entry point without `daybook/`, and the type of the options. */
  readonly type: string
  readonly give: Give
  /** Further options that are required. */
  readonly rest?: object
  readonly wrong: string
  /** The name that the error suggests. */
  readonly right: string | undefined
}

type Row = readonly [
  type: string,
  give: Give,
  wrong: string,
  right?: string | undefined,
  rest?: object,
]

const open = (options: object): AuditLog =>
  new AuditLog({ store: memoryStore(), types: {}, ...options })
const withRule = (rule: never): AuditLog => open({ cleaning: { rules: [rule] } })
const withChannel = (given: never): AuditLog =>
  open({ subscriptions: { deliver: false, channels: { a: given } } })
const define = (definition: never): unknown => defineEventTypes({ 'a:b': definition })
const transport = { sendMail: async () => {} }
const mail = { transport, from: 'a@acme.example' }
const url = 'https://acme.example'
const database = {} as never
const LINK = { attribute: 'a_id', kind: 'uuid', path: '/a/{a_id}', rank: 1 }
const intent = audit.intents().open('a:b', {})

const CORE: readonly Row[] = [
  ['AuditLogOptions', (given) => new AuditLog(given), 'cleanning', 'cleaning'],
  ['JsonLimits', (limits) => open({ limits }), 'maxDept', 'maxDepth'],
  ['RecorderOptions', (waiting) => open({ waiting }), 'deadlinMs', 'deadlineMs'],
  ['OwnEventsOptions', (ownEvents) => open({ ownEvents }), 'read', 'reads'],
  ['FailurePolicies', (failurePolicy) => open({ failurePolicy }), 'type', 'types'],
  ['CustomTypeDefinition', (given) => open({ customTypes: { 'a:b': given } }), 'lable', 'label'],
  ['LinkDefinition', (row) => open({ links: [row] }), 'ranc', 'rank', LINK],
  ['EventTypeDefinition', define, 'dat', 'data'],
  ['EventTypeDefinition', (given) => open({ types: { 'a:b': given } }), 'dat', 'data'],
  ['ThrottleRule', (throttle) => define({ throttle } as never), 'scop', 'scope'],
  ['CollapseRule', (collapse) => define({ collapse } as never), 'windw', 'window'],
  ['OcsfMapping', (ocsf) => define({ ocsf } as never), 'clas', 'class', { class: 3004 }],
  ['CleaningOptions', (given) => open({ cleaning: given }), 'hold', 'holds', { rules: [] }],
  ['LegalHold', (hold) => open({ cleaning: { rules: [], holds: [hold] } }), 'filtr', 'filter'],
  ['EventsRule', withRule, 'maxAges', 'maxAge', { target: 'events', maxRows: 1 }],
  ['HostRule', withRule, 'maxRows', undefined, { target: 'jobs', run: async () => 0 }],
  ['StatisticsRule', withRule, 'evry', 'every', { target: 'statistics' }],
  [
    'ArchiveDirectory',
    (archive) => withRule({ target: 'events', maxRows: 1, archive } as never),
    'directry',
    'directory',
  ],
  ['SubscriptionsOptions', (given) => open({ subscriptions: given }), 'visble', 'visible'],
  ['Channel', withChannel, 'batsh', 'batch', channel],
  ['BatchLimits', (batch) => withChannel({ ...channel, batch } as never), 'maxEvent', 'maxEvents'],
  ['Rate', (rate) => withChannel({ ...channel, rate } as never), 'pr', undefined],
  [
    'SubscriptionOptions',
    (given) => open({ subscriptions: { deliver: false, subscriptions: { a: given } } }),
    'whenStock',
    'whenStuck',
  ],
  ['RecordOptions', (given) => audit.record('a:b', {}, given), 'user', 'username'],
  ['RecordSystemOptions', (given) => audit.recordSystem('a:b', {}, given), 'throtle', 'throttle'],
  [
    'CallThrottle',
    (throttle) => audit.recordSystem('a:b', {}, { throttle }),
    'scop',
    'scope',
    { period: { minutes: 1 } },
  ],
  ['CollapseRule', (collapse) => audit.recordSystem('a:b', {}, { collapse }), 'windw', 'window'],
  ['ReadRecordOptions', (given) => audit.read('/a', given), 'purpos', 'purpose'],
  ['RecordOptions', (given) => audit.recordLive('a:b', {}, given), 'transaction', undefined],
  ['RecordCustomOptions', (given) => audit.recordCustom('a', {}, given), 'key', undefined],
  ['RecordChangeOptions', (given) => audit.recordChange('a:b', 1, 2, given), 'dat', 'data'],
  ['Actor', (given) => withActor(given, () => {}), 'on_behalf', 'on_behalf_of'],
  ['IntentOptions', (given) => audit.intents().open('a:b', {}, given), 'user', 'username'],
  [
    'OutcomeOptions',
    async (given) => (await intent).record('a:b', {}, given),
    'throtle',
    'throttle',
  ],
  ['WaitOptions', (given) => live.update({}, given), 'signl', 'signal'],
  ['WaitOptions', (given) => live.append('a', '', given), 'signl', 'signal'],
  ['WaitOptions', (given) => live.flush(given), 'signl', 'signal'],
  ['WaitOptions', (given) => live.close(given), 'signl', 'signal'],
  ['WaitOptions', (given) => audit.importEvents([], given), 'signl', 'signal'],
  ['WaitOptions', (given) => audit.consistencyToken(given), 'signl', 'signal'],
  ['WaitOptions', (given) => audit.flush(given), 'signl', 'signal'],
  ['WaitOptions', (given) => audit.erasures(given), 'signl', 'signal'],
  ['WaitOptions', (given) => audit.close(given), 'signl', 'signal'],
  ['WaitOptions', (given) => verifyArchive('.', given), 'signl', 'signal'],
  ['ListOptions', (given) => audit.list('', given), 'lasy', 'lazy'],
  ['ListOptions', (given) => audit.pages('', given).next(), 'lasy', 'lazy'],
  ['ReadListOptions', (given) => audit.list('', given), 'personel', 'personal'],
  ['ReadListOptions', (given) => audit.pages('', given).next(), 'subjct', 'subject'],
  ['ReadGetOptions', (given) => audit.get(event.id, given), 'personel', 'personal'],
  ['ReadHistoryOptions', (given) => audit.history('/api/a', given).next(), 'personel', 'personal'],
  ['ReadTailOptions', (given) => audit.tail('', given).next(), 'personel', 'personal'],
  ['ReadCountOptions', (given) => audit.count('', given), 'subjct', 'subject'],
  ['ReadGroupOptions', (given) => audit.groups('', given), 'subjct', 'subject', { by: ['type'] }],
  ['PersonalOptions', (given) => audit.openPersonal([], given), 'personel', 'personal'],
  ['SubjectOptions', (given) => audit.list('', given), 'subjct', 'subject'],
  ['ReadOptions', (given) => audit.explain('', given), 'token', undefined],
  ['ReadOptions', (given) => audit.get(event.id, given), 'consistancyToken', 'consistencyToken'],
  ['HistoryOptions', (given) => audit.history('/api/a', given).next(), 'asof', 'asOf'],
  ['TailOptions', (given) => audit.tail('', given).next(), 'visble', 'visible'],
  ['CountOptions', (given) => audit.count('', given), 'facet', 'facets'],
  ['Buckets', (buckets) => audit.count('', { buckets }), 'zones', 'zone'],
  ['GroupOptions', (given) => audit.groups('', given), 'tops', 'top', { by: ['type'] }],
  ['VerifyOptions', (given) => audit.verify(given), 'onProgres', 'onProgress'],
  ['RebuildOptions', (given) => audit.rebuildIndex(given), 'onProgres', 'onProgress'],
  ['HealthOptions', (given) => audit.health(given), 'timeout', 'timeoutMs'],
  ['LedgerOptions', (ledger) => open({ ledger }), 'signr', 'signer', { origin: 'a.example' }],
  [
    'PrivacyOptions',
    (privacy) => open({ privacy }),
    'costum',
    'custom',
    { keys: memorySubjectKeys() },
  ],
  [
    'PersonalRule',
    (rule) => defineEventTypes({ 'a:b': { personal: [rule] } }),
    'attribute',
    'attributes',
    { subject: { kind: 'user', from: 'user_id' }, attributes: ['email'] },
  ],
  [
    'VerifySchedule',
    (verify) => open({ ledger: { origin: 'a.example', key: 'a.example+00000000+AAAA', verify } }),
    'evry',
    'every',
    { every: { days: 1 } },
  ],
  [
    'ScheduledAnchor',
    (anchor) =>
      open({
        ledger: { origin: 'a.example', key: 'a.example+00000000+AAAA', anchors: [anchor] },
      }),
    'evry',
    'every',
    { anchor: { name: 'a', publish: async () => {} }, every: { days: 1 } },
  ],
  ['LedgerVerifyOptions', (given) => audit.ledger.verify(given), 'head', 'heads'],
  [
    'RestartOptions',
    (given) => audit.ledger.restart(given),
    'reasn',
    'reason',
    { reason: 'restored' },
  ],
  [
    'ReasonOptions',
    (given) => audit.ledger.acknowledge([], given),
    'reasn',
    'reason',
    { reason: 'known' },
  ],
  [
    'EraseOptions',
    (given) => audit.erase({ ids: [randomUUID()] }, given),
    'usrname',
    'username',
    { reason: 'request', username: 'dpo' },
  ],
  ['ParseOptions', (given) => parseQuery('', given), 'attribute', 'attributes'],
  ['EventQuery', (given) => audit.list(given), 'limt', 'limit', parseQuery('')],
  ['DescribeOptions', (given) => describeEvent(event, given), 'languag', 'language'],
  ['DescribeOptions', (given) => sourceLabel(event, given), 'languag', 'language'],
  ['RevertOptions', (given) => revertPatch(event, given), 'tests', 'test'],
  [
    'DeliveryErrorDetails',
    (given) => new DeliveryError('status', '', given),
    'permanant',
    'permanent',
  ],
  ['CleaningRunOptions', (given) => cleaning.run(given), 'rule', 'rules'],
  ['CleaningPreviewOptions', (given) => cleaning.preview(given), 'rule', 'rules'],
  ['WaitOptions', (given) => cleaning.runDue(given), 'signl', 'signal'],
  ['WaitOptions', (given) => cleaning.status(given), 'signl', 'signal'],
  ['SubscriptionDefinition', (given) => subscriptions.create(given), 'chanel', 'channel'],
  ['SubscriptionChange', (given) => subscriptions.update('a', given), 'paused', undefined],
  ['ChannelDefinition', (given) => subscriptions.channels.create(given), 'confg', 'config'],
  ['ChannelChange', (given) => subscriptions.channels.update('a', given), 'kind', undefined],
  ['ReplayOptions', (given) => subscriptions.replay('a', given), 'form', 'from'],
  ['ParkedOptions', (given) => subscriptions.parked('a', given), 'limt', 'limit'],
  ['DisableOptions', (given) => subscriptions.channels.disable('a', given), 'reasn', 'reason'],
  ...(
    [
      (given) => subscriptions.create({ name: 'a', channel: 'channel' }, given),
      (given) => subscriptions.update('a', {}, given),
      (given) => subscriptions.remove('a', given),
      (given) => subscriptions.pause('a', given),
      (given) => subscriptions.resume('a', given),
      (given) => subscriptions.redrive('a', 'all', given),
      (given) => subscriptions.discard('a', 'all', given),
      (given) => subscriptions.test('a', given),
      (given) => subscriptions.channels.create({ name: 'a', kind: 'slack', config: {} }, given),
      (given) => subscriptions.channels.update('a', {}, given),
      (given) => subscriptions.channels.remove('a', given),
      (given) => subscriptions.channels.enable('a', given),
      (given) => subscriptions.channels.rotateSecret('a', given),
      (given) => subscriptions.channels.test('a', given),
    ] satisfies Give[]
  ).map((give): Row => ['ManageOptions', give, 'user', 'username']),
  ...(
    [
      (given) => subscriptions.list(given),
      (given) => subscriptions.get('a', given),
      (given) => subscriptions.channels.list(given),
      (given) => subscriptions.channels.get('a', given),
    ] satisfies Give[]
  ).map((give): Row => ['WaitOptions', give, 'signl', 'signal']),
  ['StatusOptions', (given) => subscriptions.status(given), 'ownr', 'owner'],
  ['AuditLogsOptions', (given) => new AuditLogs(given), 'cleanning', 'cleaning'],
  ...(['limits', 'waiting', 'cleaning', 'subscriptions', 'failurePolicy'] as const).map(
    (name): Row => [
      'AuditLogsOptions',
      (given) => new AuditLogs({ stores: memoryLogs(), types: {}, [name]: given }),
      'unknwn',
      undefined,
      name === 'cleaning' ? { rules: [] } : {},
    ],
  ),
  ['LogKeysOptions', (given) => logs.keys(given), 'aftr', 'after'],
  ['LogsListOptions', (given) => logs.list('', given), 'visble', 'visible'],
  ['LogsPagesOptions', (given) => logs.pages('', given).next(), 'visble', 'visible'],
  ['LogsCountOptions', (given) => logs.count('', given), 'visble', 'visible'],
  ['LogsGroupOptions', (given) => logs.groups('', given), 'visble', 'visible', { by: ['type'] }],
  ['LogsHistoryOptions', (given) => logs.history('/api/a', given).next(), 'visble', 'visible'],
  ['LogsTailOptions', (given) => logs.tail('', given).next(), 'visble', 'visible'],
  ['LogsTailOptions', (given) => logs.follow('', given), 'visble', 'visible'],
  ['LogsOptions', (given) => logs.cursor(given), 'log', 'logs'],
  ['LogsUntilOptions', (given) => logs.groups('', given), 'untl', 'until', { by: ['type'] }],
  ['LogsRangeOptions', (given) => logs.pages('', given).next(), 'cursr', 'cursor'],
  ['WaitOptions', (given) => logs.find('a', given), 'signl', 'signal'],
  ['WaitOptions', (given) => logs.close(given), 'signl', 'signal'],
]

const SERVER = { connectionString: 'postgres://127.0.0.1:1/none' }

const OTHERS: Readonly<Record<string, readonly Row[]>> = {
  memory: [
    ['MemoryStoreOptions', (given) => memoryStore(given), 'maxEvent', 'maxEvents'],
    ['MemoryStoreOptions', (given) => memoryLogs(given), 'maxEvent', 'maxEvents'],
    ['MemorySubjectKeysOptions', (given) => memorySubjectKeys(given), 'mastr', 'master'],
  ],
  sqlite: [
    ['SqliteStoreOptions', (given) => sqlite.sqliteStore(given), 'readonly', 'readOnly'],
    ['SqliteLogsOptions', (given) => sqlite.sqliteLogs(given), 'dirctory', 'directory'],
    ['SqliteJournalOptions', (given) => sqlite.sqliteJournal(given), 'maxByte', 'maxBytes'],
    ['SqliteSubjectKeysOptions', (given) => sqlite.sqliteSubjectKeys(given), 'mod', 'mode'],
    ['SqliteTableOptions', (given) => sqlite.sqliteTable(given), 'tabel', 'table'],
    ['SqliteCaptureOptions', (given) => sqlite.captureChanges(given), 'exclud', 'exclude'],
    ['SqliteRemoveCaptureOptions', (given) => sqlite.removeCapture(given), 'table', 'tables'],
    [
      'CapturedTable',
      (table) => sqlite.captureChanges({ database, tables: [table] }),
      'exclud',
      'exclude',
      { name: 'a' },
    ],
    ['CaptureOptions', (given) => sqlite.captureChanges(given), 'primarykey', 'primaryKey'],
  ],
  postgres: [
    ['PostgresStoreOptions', (given) => postgres.postgresStore(given), 'shema', 'schema'],
    ['PostgresStoreOptions', (given) => postgres.postgresMigrations(given), 'shema', 'schema'],
    ['PostgresStoreOptions', (given) => postgres.postgresCheckups(given), 'shema', 'schema'],
    [
      'PostgresSubjectKeysOptions',
      (given) => postgres.postgresSubjectKeys(given),
      'shema',
      'schema',
    ],
    ['Citus', (citus) => postgres.postgresStore({ ...SERVER, citus }), 'node', 'nodes'],
    [
      'PostgresLogsOptions',
      (given) => postgres.postgresLogs(given),
      'maxConnection',
      'maxConnections',
    ],
    [
      'Cluster',
      (given) => postgres.postgresLogs({ clusters: { a: given }, clusterOf: () => 'a' }),
      'replica',
      'replicas',
    ],
    ['PostgresTableOptions', (given) => postgres.postgresTable(given), 'tabel', 'table'],
    ['PostgresCaptureOptions', (given) => postgres.captureChanges(given), 'exclud', 'exclude'],
    ['PostgresRemoveCaptureOptions', (given) => postgres.removeCapture(given), 'table', 'tables'],
    ['CaptureOptions', (given) => postgres.captureChanges(given), 'exclud', 'exclude'],
  ],
  channels: [
    ['WebhookOptions', (given) => channels.webhook(given), 'secrets', 'secret'],
    ['WebhookKindOptions', (given) => channels.webhookKind(given), 'allowHtp', 'allowHttp'],
    ['UserUrlOptions', (given) => channels.slackKind(given), 'alow', 'allow'],
    ['SlackOptions', (given) => channels.slack(given), 'ulr', 'url'],
    ['EmailOptions', (given) => channels.email(given), 'subjekt', 'subject'],
    ['EmailKindOptions', (given) => channels.emailKind(given), 'rendr', 'render'],
    ['Batch', (batch) => channels.slack({ url, batch }), 'maxEvent', 'maxEvents'],
    ['Rate', (rate) => channels.email({ ...mail, to: 'b@acme.example', rate }), 'cont', 'count'],
  ],
  export: [
    ['ExportOptions', (given) => exportEvents(audit, '', given).next(), 'colums', 'columns'],
    [
      'LogsExportOptions',
      (given) => exportEventsOfLogs(logs, '', given).next(),
      'visble',
      'visible',
    ],
  ],
  formats: [
    ['CloudEventOptions', (given) => toCloudEvent(event, given), 'sorce', 'source'],
    ['OcsfOptions', (given) => toOcsf(event, given), 'produkt', 'product'],
    [
      'OcsfProduct',
      (product) => toOcsf(event, { product }),
      'vendor',
      'vendor_name',
      { name: 'a' },
    ],
    ['OtlpOptions', (given) => toOtlp([event], given), 'servce', 'service'],
  ],
  ledger: [
    ['ProofCheck', (given) => checkProof(given), 'polcy', 'policy'],
    ['ConsistencyCheck', (given) => checkConsistency(given), 'newr', 'newer'],
    ['KeyFileOptions', (given) => keyFile('ledger.pem', given), 'nte', 'note'],
  ],
  parquet: [
    ['ParquetOptions', (given) => parquetWriter(given), 'colums', 'columns'],
    ['ParquetOptions', (given) => toParquet([], given), 'colums', 'columns'],
    ['RowGroupLimits', (rowGroup) => parquetWriter({ rowGroup }), 'row', 'rows'],
  ],
  workflow: [
    [
      'WorkflowSettings',
      (given) => workflowEventTypesFor(given),
      'log_email_event',
      'log_email_events',
    ],
  ],
  testing: [
    [
      'StoreUnderTest',
      (given) => storeConformance(() => given)[0]!.run(),
      'reopn',
      'reopen',
      { store: memoryStore() },
    ],
  ],
}

const users = { ann: 'secret' }
const list = { source: [], attributes: {}, resource: 'a' }

/** The mounts of each framework. */
const mountsOf = (host: typeof koa | typeof node): readonly Row[] => {
  const { basicAuth, auditPage, recordRequests } = host as typeof node
  const theme = (given: never) => auditPage(audit, { theme: given })
  return [
    ['AuditRoutesOptions', (given) => host.auditRoutes(audit, given), 'visble', 'visible'],
    ['AuditRoutesOptions', (given) => host.auditRoutes(audit, given), 'authorise', 'authorize'],
    ['AuditRoutesOptions', (redact) => host.auditRoutes(audit, { redact }), 'key', 'keys'],
    ['LogRoutesOptions', (given) => host.logRoutes(logs, given), 'visble', 'visible'],
    ['ViewRoutesOptions', (given) => host.viewRoutes(audit, given), 'authorise', 'authorize'],
    [
      'SubscriptionRoutesOptions',
      (given) => host.subscriptionRoutes(audit, given),
      'authorise',
      'authorize',
    ],
    ['AuditHealthOptions', (given) => host.auditHealth(audit, given), 'detail', 'details'],
    ['AuditPageOptions', (given) => auditPage(audit, given), 'frameAncestor', 'frameAncestors'],
    ['AuditPageOptions', theme, 'acent', 'accent'],
    ['AuditPageOptions', (accent) => theme({ accent } as never), 'drak', 'dark'],
    ['ListRouteOptions', (given) => host.listRoute(given), 'visble', 'visible', list],
    ['RecordRequestsOptions', (given) => recordRequests(audit, given), 'require', 'required'],
    ['RecordRequestsOptions', (redact) => recordRequests(audit, { redact }), 'path', 'paths'],
    ['BasicAuthOptions', (given) => basicAuth(given), 'failure', 'failures', { users }],
    ['Challenge', (challenge) => basicAuth({ users, challenge }), 'schem', 'scheme'],
    ['FailureLimits', (failures) => basicAuth({ users, failures }), 'perUsr', 'perUser'],
  ]
}

/** An app that keeps its routes, as `assertCoverage` of Fastify needs it. */
const app = { addHook() {} } as never
fastify.recordRequests(audit)(app, {}, () => {})

const coverage: Readonly<Record<string, Give>> = {
  koa: (given) => koa.assertCoverage({ stack: [] }, {}, given),
  node: (given) => node.assertCoverage([], {}, given),
  fastify: (given) => fastify.assertCoverage(app, {}, given),
  express: (given) => express.assertCoverage([], {}, given),
  fetch: (given) => fetching.assertCoverage([], {}, given),
  hono: (given) => hono.assertCoverage({ routes: [] }, {}, given),
  h3: (given) => h3.assertCoverage({ '~routes': [] }, {}, given),
}
const HOSTS = { koa, node, express, fastify, fetch: fetching, hono, h3 } as const

const inEntry = (entry: string, rows: readonly Row[]): Taken[] =>
  rows.map(([type, give, wrong, right, rest = {}]) => ({
    type: `${entry} ${type}`,
    give,
    rest,
    wrong,
    right,
  }))

const TABLE: readonly Taken[] = [
  ...inEntry('.', CORE),
  ...Object.entries(OTHERS).flatMap(([entry, rows]) => inEntry(entry, rows)),
  ...Object.entries(HOSTS).flatMap(([entry, host]) =>
    inEntry(entry, [
      ...mountsOf(host as typeof node),
      ...(coverage[entry]
        ? [['AssertCoverageOptions', coverage[entry], 'excpt', 'except'] satisfies Row]
        : []),
    ]),
  ),
]

/** Options for which null stands for none. */
const TAKE_NULL: ReadonlySet<string> = new Set(['. Actor', '. CallThrottle'])

/** The error of a call, at once or later. */
const faultOf = async (give: Give, given: unknown): Promise<unknown> => {
  try {
    await give(given as never)
    return undefined
  } catch (error) {
    return error
  }
}

describe.each(TABLE.map((row) => [`${row.type}: ${row.wrong}`, row] as const))('%s', (_, row) => {
  const { give, rest, wrong, right } = row

  it('is refused, with the nearest name, also without a value', async () => {
    for (const value of [undefined, 1]) {
      const error = await faultOf(give, { ...rest, [wrong]: value })
      expect(error).toBeInstanceOf(AuditLogError)
      expect(error).toMatchObject({ code: 'INVALID_OPTION', suggestion: right })
      expect((error as Error).message).toMatch(
        right === undefined ? new RegExp(`\\b${wrong}\\b`) : `${wrong}; did you mean ${right}?`,
      )
    }
  })

  it('is refused if it is anything but an object', async () => {
    for (const given of [['a'], 7, ...(TAKE_NULL.has(row.type) ? [] : [null])]) {
      const error = await faultOf(give, given)
      expect(error).toBeInstanceOf(AuditLogError)
      expect((error as AuditLogError).code).toMatch(/^INVALID_/)
    }
  })
})

describe('options', () => {
  const names = (given: object) => faultOf((one) => memoryStore(one), given)

  it('may be objects of another realm, and objects without a prototype', async () => {
    for (const make of ['({ maxEvent: 1 })', 'Object.assign(Object.create(null), { maxEvent: 1 })'])
      expect(await names(runInNewContext(make) as object)).toMatchObject({
        suggestion: 'maxEvents',
      })
    expect(await names(runInNewContext('({ maxEvents: 1 })') as object)).toBeUndefined()
  })

  it('may have symbols, inherited names, and names of an instance', async () => {
    expect(await names({ [Symbol('a')]: 1 })).toBeUndefined()
    expect(await names(Object.create({ maxEvent: 1 }) as object)).toBeUndefined()
    class Settings {
      readonly maxEvents = 5
      readonly further = 1
    }
    expect(await names(new Settings())).toBeUndefined()
  })

  it('are not a promise, such as that of a function that was not awaited', async () => {
    const error = await names(Promise.resolve({ maxEvents: 1 }))
    expect((error as Error).message).toMatch(/not a promise$/)
  })

  it('take undefined for a name that they have', async () => {
    expect(await names({ maxEvents: undefined, clock: undefined })).toBeUndefined()
    await expect(audit.record('a:b', {}, { username: undefined })).resolves.toBeDefined()
  })

  it.each<[message: string, make: () => unknown]>([
    ['AuditLog takes an object with store', () => new AuditLog(undefined as never)],
    ['AuditLog: store must be a store', () => new AuditLog({ types: {} } as never)],
    ['types must be an object', () => open({ types: undefined })],
    ['types must be an object', () => open({ types: ['a'] })],
    ['event type orders takes an object', () => open({ types: { orders: null } })],
    ['data must list data keys', () => define({ data: 'total' } as never)],
    ['AuditLogs takes an object', () => new AuditLogs(undefined as never)],
    ['webhook: secret is missing', () => channels.webhook({ url, secret: undefined as never })],
    ['webhook: secret is missing', () => channels.webhook({ url, secret: '' })],
    ['transport must be', () => channels.email({ ...mail, to: mail.from, transport: '' })],
    ['users must be an object', () => koa.basicAuth({ users: undefined as never })],
    ['filename', () => sqlite.sqliteStore({ filename: '' })],
    ['filename', () => sqlite.sqliteStore({ filename: undefined as never })],
    ['filename', () => sqlite.sqliteStore({} as never)],
    ['filename', () => sqlite.sqliteStore({ filename: 'postgres://localhost/audit' })],
    ['filename', () => sqlite.sqliteJournal({ filename: '' })],
    ['database', () => sqlite.sqliteStore({ database: undefined as never })],
    ['filename', () => sqlite.sqliteStore({ filename: 'sqlite:audit.db' })],
    ['connectionString must', () => postgres.postgresStore({ connectionString: '' })],
    [
      'connectionString must',
      () => postgres.postgresStore({ connectionString: 'mysql://u:pw@h/d' }),
    ],
    ['connectionString must', () => postgres.postgresStore({ connectionString: 'host=localhost' })],
    ['connectionString, or a pool', () => postgres.postgresStore({ pool: undefined as never })],
    ['replica 1 must', () => postgres.postgresStore({ ...SERVER, replicas: ['mysql://h/d'] })],
    ['schema must', () => postgres.postgresStore({ ...SERVER, schema: '' })],
    ['schemaPrefix must', () => postgres.postgresLogs({ ...SERVER, schemaPrefix: '' })],
    ['service of OTLP', () => toOtlp([event], { service: undefined as never })],
    ['channels takes an object', () => open({ subscriptions: { channels: [channel] } })],
    ['throttles takes an object', () => open({ throttles: ['a:b'] })],
    ['throttles.a:c', () => open({ throttles: { 'a:c': false } })],
    ['journal must be a journal', () => open({ journal: 'journal.db' })],
    ['source must be items', () => koa.listRoute({ ...list, source: undefined as never })],
    [
      'attributes takes an object',
      () => koa.listRoute({ ...list, attributes: undefined as never }),
    ],
    ['resource must be a type', () => koa.listRoute({ ...list, resource: undefined as never })],
    ['visible must be a parsed filter', () => audit.count('', { visible: filter as never })],
    [
      'visible must be a parsed',
      () => audit.groups('', { by: ['type'], visible: filter as never }),
    ],
    ['visible must be a parsed', () => audit.tail('', { visible: filter as never }).next()],
    ['where must be a parsed', () => audit.list({ ...parseQuery(''), where: filter as never })],
    ['sorts of a parsed query', () => audit.list({ ...parseQuery(''), sorts: null as never })],
    ['slowQueryMs', () => new AuditLogs({ stores: memoryLogs(), types: {}, slowQueryMs: -1 })],
    ['routes takes an object', () => koa.recordRequests(audit, { routes: ['POST /a'] as never })],
  ])('without what is needed say "%s"', async (message, make) => {
    const error = await faultOf(make, undefined)
    expect(error).toBeInstanceOf(AuditLogError)
    expect(error).toMatchObject({ code: 'INVALID_OPTION' })
    expect((error as Error).message).toContain(message)
    expect((error as Error).message).not.toContain('pw')
  })

  it('do not stop a call from being counted: it is rejected and reported', async () => {
    const log = open({ types: { 'a:b': {} } })
    const rejected: string[] = []
    log.on('rejected', ({ error }) => rejected.push(error.code))
    await expect(log.record('a:b', {}, { user: 'ann' } as never)).rejects.toMatchObject({
      suggestion: 'username',
    })
    expect(log.stats()).toMatchObject({ calls: 1, rejected: 1 })
    expect(rejected).toEqual(['INVALID_OPTION'])
    await log.close()
  })

  it('of a plugin of Fastify are separate from the options of `register`', async () => {
    const register = async (options: object): Promise<void> => {
      const host = Fastify()
      await host.register(fastify.recordRequests(audit))
      await host.register(fastify.auditRoutes(audit, { path: '/a/events' }), options)
      await host.close()
    }
    await expect(register({ visible: () => 'all' })).rejects.toThrow(
      /^register of a plugin of daybook\/fastify has no option visible/,
    )
    await register({ prefix: '/a', logLevel: 'warn', logSerializers: {} })
  })
})

describe('in-code queries', () => {
  const QUERIES: readonly [query: unknown, parameter: string, suggestion: string | undefined][] = [
    ['filters[type_eq]=x', 'filters[type_eq]', 'filter'],
    ['sort=-created_at', 'sort', 'filter[sorts]'],
    [new URLSearchParams({ limt: '5' }), 'limt', 'limit'],
    [{ filters: filter }, 'filters', 'filter'],
    [{ filter, limt: 5 }, 'limt', 'limit'],
    [{ where: parseQuery({ filter }).where }, 'where', undefined],
  ]
  const CALLS: Readonly<Record<string, (query: never) => unknown>> = {
    parseQuery: (query) => parseQuery(query),
    list: (query) => audit.list(query),
    explain: (query) => audit.explain(query),
    pages: (query) => audit.pages(query).next(),
    tail: (query) => audit.tail(query).next(),
    count: (query) => audit.count(query),
    groups: (query) => audit.groups(query, { by: ['type'] }),
    export: (query) => exportEvents(audit, query).next(),
    'list of logs': (query) => logs.list(query),
    'count of logs': (query) => logs.count(query),
    'pages of logs': (query) => logs.pages(query).next(),
    'groups of logs': (query) => logs.groups(query, { by: ['type'] }),
    'tail of logs': (query) => logs.tail(query).next(),
  }

  it.each(Object.entries(CALLS))('of %s refuse unknown parameters', async (_, call) => {
    for (const [query, parameter, suggestion] of QUERIES) {
      const error = await faultOf(call, query)
      expect(error).toMatchObject({ code: 'UNKNOWN_PARAMETER', parameter, suggestion })
    }
  })

  it('that act are refused too', async () => {
    for (const [query] of QUERIES) {
      expect(
        await faultOf(withRule as Give, { target: 'events', maxRows: 1, filter: query }),
      ).toMatchObject({ code: 'INVALID_OPTION' })
      const create = subscriptions.create({ name: 'a', channel: 'channel', filter: query as never })
      await expect(create).rejects.toMatchObject({ code: 'INVALID_SUBSCRIPTION' })
    }
  })
})

describe('the table', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const { exports } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, { readonly default?: string }>>
  }

  /** Exported types of options that hosts do not pass. */
  const OTHER_TYPES: Readonly<Record<string, string>> = {
    AppendOptions: 'a log gives it to its store',
    ReadSettings: 'a log gives it to its reads',
    RemoveOptions: 'a log gives it to its store',
    ScrubOptions: 'a log gives it to its store',
    ReadStatesOptions: 'a log gives it to its store',
    UpdateStateOptions: 'a log gives it to its store',
    KeysOptions: 'a log gives it to its stores',
    '{} of EventStore': 'a log gives it to its store',
    FailureCounterOptions: 'basicAuth gives it to the counters of the host',
    '{} of ExportedLog': 'an export gives it to its log',
    '{} of ExportedLogs': 'an export gives it to its logs',
    AuditLogErrorDetails: 'says what an error is about',
    SqlTransactionOptions: 'the functions of daybook/orm give it',
    CleaningRule: 'the union of the rules',
    JsonObject: 'the setup of a channel',
    ConnectionOptions: 'a part of the options of channels',
    '{} of Dispatcher': 'a channel gives it to the dispatcher of the host',
    Buffer: 'the body of a request',
    '{} of AuditLog': 'narrows the options of a tail',
    '{} of RestrictedLog': 'narrows the options of a tail',
    '{} of AuditLogs': 'narrows the options of a tail',
    AbortSignal: 'a member of options',
    Types: 'a parameter of a type',
    Links: 'a parameter of a type',
    Item: 'a parameter of a type',
    Context: 'a parameter of a type',
    '{} of SqliteDatabase': 'options of the driver',
    Microseconds: 'a time',
    WaitingRule: 'a part of the health of a log',
    Sentence: 'a sentence',
    Quotes: 'a pair of texts',
    '{} of sentenceText': 'a language, which has further members',
  }

  const entries = Object.entries(exports).flatMap(([name, { default: file }]) =>
    file === undefined ? [] : [[name.replace('./', ''), file] as const],
  )

  it.each(entries)('has the options of %s', (entry, file) => {
    const source = path.join(root, file.replace('./dist/', '').replace(/\.js$/, '.ts'))
    const known = new Set(TABLE.map(({ type }) => type))
    const missing = [...optionTypesOf(source).keys()].filter(
      (type) =>
        !Object.hasOwn(OTHER_TYPES, type) &&
        !known.has(`${entry} ${type}`) &&
        !known.has(`. ${type}`),
    )
    expect(missing).toEqual([])
  })

  it('finds the types of options', () => {
    const found = new Set(
      entries.flatMap(([, file]) => [
        ...optionTypesOf(
          path.join(root, file.replace('./dist/', '').replace(/\.js$/, '.ts')),
        ).keys(),
      ]),
    )
    expect(found.size).toBeGreaterThan(80)
    for (const type of Object.keys(OTHER_TYPES)) expect(found).toContain(type)
  })
})
