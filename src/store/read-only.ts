import { AuditLogError } from '../errors.js'
import type { LedgerStore } from './ledger.js'
import type { EventStore } from './store.js'

export const readOnlyError = (): AuditLogError =>
  new AuditLogError('READ_ONLY', 'the audit log was opened read-only')

type WriteName =
  | 'append'
  | 'enlist'
  | 'importEvents'
  | 'removeBefore'
  | 'removableRanges'
  | 'readRange'
  | 'removeRange'
  | 'remove'
  | 'reportSuppressed'
  | 'recordSuppressed'
  | 'updateState'
  | 'updateStates'
  | 'changeLive'
  | 'touchLive'
  | 'closeLive'
  | 'analyze'

/** The part of a store that does not write. */
export type ReadingStore = Omit<EventStore, WriteName | 'readOnly'>

const refuse = (): Promise<never> => Promise.reject(readOnlyError())

const readOnlyLedger = (ledger: LedgerStore): LedgerStore => ({
  begin: refuse,
  append: refuse,
  remove: refuse,
  release: refuse,
  restart: refuse,
  state: (...call) => ledger.state(...call),
  unsealed: (...call) => ledger.unsealed(...call),
  late: (...call) => ledger.late(...call),
  rows: (...call) => ledger.rows(...call),
  nodes: (...call) => ledger.nodes(...call),
  statements: (...call) => ledger.statements(...call),
  leavesOf: (...call) => ledger.leavesOf(...call),
  events: (...call) => ledger.events(...call),
  eventsAt: (...call) => ledger.eventsAt(...call),
  waiting: (...call) => ledger.waiting(...call),
})

/** A store that reads from the given one, and whose writing methods reject with `READ_ONLY`. */
export const readOnlyStore = (store: ReadingStore): EventStore => ({
  readOnly: true,
  name: store.name,
  clock: store.clock,
  ...(store.ledger && { ledger: readOnlyLedger(store.ledger) }),
  ...(store.consistencyToken && {
    consistencyToken: (options) => store.consistencyToken!(options),
  }),
  get: (...call) => store.get(...call),
  list: (...call) => store.list(...call),
  count: (...call) => store.count(...call),
  excess: (...call) => store.excess(...call),
  openEvents: (...call) => store.openEvents(...call),
  readStates: (...call) => store.readStates(...call),
  watch: (hint) => store.watch(hint),
  ...(store.health && { health: (options) => store.health!(options) }),
  ...(store.verify && { verify: (options) => store.verify!(options) }),
  ...(store.rebuildIndex && { rebuildIndex: refuse }),
  ...(store.scrub && { scrub: refuse }),
  ...(store.watchDamage && { watchDamage: (handler) => store.watchDamage!(handler) }),
  close: () => store.close(),
  append: refuse,
  importEvents: refuse,
  removeBefore: refuse,
  remove: refuse,
  reportSuppressed: refuse,
  recordSuppressed: refuse,
  updateState: refuse,
  updateStates: refuse,
  changeLive: refuse,
  touchLive: refuse,
  closeLive: refuse,
})
