import type { LogSettings } from './audit-log-options.js'
import { createAgeClock, readWaitingRules } from './cleaning/age-clock.js'
import { createCleaning } from './cleaning/cleaning.js'
import { readHolds } from './cleaning/filters.js'
import { untilAborted } from './errors.js'
import type { AuditEvent } from './event/event.js'
import { type AuditHealth, checkHealth, type HealthOptions } from './health/health.js'
import { createLedger, type LedgerFeature } from './ledger/ledger.js'
import { createLiveEvents } from './live/live-events.js'
import type { LogEvents } from './log-events.js'
import type { Calls } from './recording/calls.js'
import { createErasing, type ErasingContext } from './privacy/erasing.js'
import { logConfiguration } from './log-configuration.js'
import { startRuns } from './recording/runs.js'
import { reportClock, reportDamage } from './recording/reports.js'
import { eventsSealed } from './store/ledger-errors.js'
import type { EventStore, WaitOptions } from './store/store.js'
import { askRights, createSubscriptions } from './subscriptions/subscriptions.js'
import { createUndelivered } from './subscriptions/undelivered.js'
import { sharedTail } from './tail/shared-tail.js'

/** A part of a log that works beside its calls, from the start of the log to its end. */
interface Feature {
  /** Called with the events that this process has just stored, oldest first. */
  stored?(events: readonly AuditEvent[]): void
  /** Resolves when its work so far is done. */
  flush?(): Promise<unknown>
  /** Ends its work. It may record events until this resolves. */
  close?(): Promise<unknown>
  /** Records its last event within `ms` milliseconds. Called when all other events are recorded. */
  readonly last?: (ms: number) => Promise<unknown>
  /** Called once no more events are recorded. */
  end?(): Promise<unknown>
}

/** The parts of a log that its features use. */
interface FeatureContext extends LogSettings {
  readonly audit: object
  readonly calls: Calls
  readonly events: LogEvents
}

/** How events are erased by their ids: with a ledger, only by the process that seals them. */
function removalOf(
  store: EventStore,
  ledger: LedgerFeature,
): Pick<ErasingContext, 'requireRemoval' | 'remove'> {
  return {
    async requireRemoval(options) {
      if (!(await ledger.remover.canRemove(options))) throw eventsSealed()
    },
    async remove(ids, options) {
      // The process that seals has sealed what was visible when it was asked.
      if (!(await ledger.remover.canRemove(options))) throw eventsSealed()
      const isSealed = (await store.ledger?.state(options)) !== undefined
      return isSealed ? ledger.remove(ids, options) : store.remove(ids, options)
    },
  }
}

/** The features of a log by name, in the order in which they get events and end. */
function createFeatures(log: FeatureContext) {
  const { audit, store, types, links, sealedNames, calls, events } = log
  const { record, recordOwn, suppressedDraft } = calls
  const ageClock = createAgeClock(store)
  const tail = sharedTail(store)
  const undelivered = createUndelivered(store, askRights(log.subscriptions ?? {}, log))
  const ledger = createLedger(store, log.ledger, recordOwn)
  const { remover } = ledger
  const cleaned = { store, ageClock, undelivered, suppressedDraft, remover, sealedNames }
  const runs: Feature = log.ownEvents.runs ? startRuns(store, logConfiguration(log), recordOwn) : {}
  return {
    damage: reportDamage(store, (damage) => events.damaged(damage), recordOwn),
    clock: reportClock(store, (doubt) => ageClock.noteDoubt(doubt), recordOwn),
    cleaning: createCleaning({ ...cleaned, record: recordOwn, described: log }, log.cleaning),
    ageClock,
    runs,
    tail,
    subscriptions: createSubscriptions(
      { audit, store, tail, types, links, sealedNames, record },
      log.subscriptions,
    ),
    ledger,
    erasing: createErasing({
      ...log,
      ...removalOf(store, ledger),
      recordOnce: calls.recordOnce,
      holds: ({ signal }) => untilAborted(readHolds(log.cleaning?.holds, sealedNames), signal),
    }),
    live: createLiveEvents(store, log.limits, log.waiting),
    listeners: events,
  } satisfies Readonly<Record<string, Feature>>
}

/** The features of a log by name, and all of them together. `close` and `end` never reject. */
export interface Features
  extends ReturnType<typeof createFeatures>, Required<Omit<Feature, 'last'>> {
  readonly last: Feature['last']
  health(options: HealthOptions): Promise<AuditHealth>
}

/** Starts the features of a log. Throws `INVALID_OPTION` and `INVALID_SUBSCRIPTION`. */
export function startFeatures(log: FeatureContext): Features {
  const { store, journal, calls } = log
  const table = createFeatures(log)
  const features: readonly Feature[] = Object.values(table)
  return {
    ...table,
    stored(events) {
      for (const feature of features) feature.stored?.(events)
    },
    flush: () => Promise.all(features.map(async (feature) => feature.flush?.())),
    close: () => Promise.allSettled(features.map(async (feature) => feature.close?.())),
    end: () => Promise.allSettled(features.map(async (feature) => feature.end?.())),
    last: table.runs.last,
    health(options) {
      const waitingRules = (given: WaitOptions) => readWaitingRules(store, given)
      const ledgerTrouble = (given: WaitOptions) => table.ledger.trouble(given)
      return checkHealth(
        { store, journal, outage: calls.outage, waitingRules, ledgerTrouble },
        options,
      )
    },
  }
}
