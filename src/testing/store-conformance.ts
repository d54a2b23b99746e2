import { AuditLog } from '../audit-log.js'
import { appendCases } from './conformance/append.js'
import { closeCases } from './conformance/close.js'
import {
  type Abilities,
  type Ability,
  type Case,
  type Context,
  type CreateStore,
  STORE_UNDER_TEST,
  type StoreUnderTest,
} from './conformance/context.js'
import { consistencyCases } from './conformance/consistency.js'
import { countCases } from './conformance/count.js'
import { excessCases } from './conformance/excess.js'
import { explainCases } from './conformance/explain.js'
import { filterCases } from './conformance/filter.js'
import { freeTextCases } from './conformance/free-text.js'
import { groupCases } from './conformance/groups.js'
import { importCases } from './conformance/import.js'
import { ledgerCases } from './conformance/ledger.js'
import { ledgerChangeCases } from './conformance/ledger-changes.js'
import { liveCases } from './conformance/live.js'
import { liveChangeCases } from './conformance/live-changes.js'
import { liveReadingCases } from './conformance/live-reading.js'
import { orderCases } from './conformance/order.js'
import { outageCases } from './conformance/outage.js'
import { readCases } from './conformance/read.js'
import { rangeCases } from './conformance/ranges.js'
import { removeCases } from './conformance/remove.js'
import { reopenCases } from './conformance/reopen.js'
import { scrubCases } from './conformance/scrub.js'
import { sealedPartCases } from './conformance/sealed-parts.js'
import { stateCases } from './conformance/state.js'
import { suppressedCases } from './conformance/suppressed.js'
import { tailCases } from './conformance/tail.js'
import { throttleCases } from './conformance/throttle.js'
import { transactionCases } from './conformance/transaction.js'
import { transactionThrottleCases } from './conformance/transaction-throttle.js'
import { valueCases } from './conformance/values.js'
import { watchCases } from './conformance/watch.js'
import { manualClock } from './conformance/manual-clock.js'
import { requireOptions } from '../options.js'

export interface ConformanceCase {
  /** `<method>: <rule>` */
  readonly name: string
  /** Abilities that the case needs. If the store lacks one, `run` resolves to the reason. */
  readonly needs?: readonly Ability[]
  /**
   * Rejects with an `AssertionError` if the store breaks the rule. Resolves to `undefined` if it
   * passes, or to the reason why the case was skipped.
   */
  readonly run: () => Promise<string | undefined>
}

const reasons: Readonly<Record<Ability, string>> = {
  reopen: 'cannot be opened twice',
  transaction: 'does not support host transactions',
  interrupt: 'cannot be interrupted',
  loseAcknowledgement: 'cannot be made to lose acknowledgements',
  ledger: 'keeps no ledger',
  scrub: 'has no method scrub',
}

const LINKS = [
  { attribute: 'project_path', kind: '/projects/{code}', path: '/api{project_path}', rank: 1 },
] as const

/** The abilities of one store, and a function that ends everything that a case has left open. */
function abilitiesOf(given: StoreUnderTest): { abilities: Abilities; undo: () => Promise<void> } {
  const open = new Set<() => Promise<unknown>>()
  /** Makes `end` run only once, either by the case or by `undo`. */
  const endOnce = (end: () => Promise<void>): (() => Promise<void>) => {
    const once = async (): Promise<void> => {
      if (open.delete(once)) await end()
    }
    open.add(once)
    return once
  }
  return {
    abilities: {
      async reopen() {
        const log: AuditLog = new AuditLog({ store: await given.reopen!(), types: {} })
        open.add(() => log.close())
        return log
      },
      async transaction() {
        const { handle, commit, rollback } = await given.transaction!()
        const end = endOnce(rollback)
        return {
          handle,
          async commit() {
            open.delete(end)
            await commit()
          },
          rollback: end,
        }
      },
      interrupt: async () => endOnce(await given.interrupt!()),
      loseAcknowledgement: (method) => given.loseAcknowledgement!(method),
    },
    async undo() {
      // Ends them in reverse order, because a store cannot close while a transaction blocks it.
      for (const end of [...open].toReversed()) await end()
    },
  }
}

async function runCase(
  { needs, body }: Case,
  createStore: CreateStore,
): Promise<string | undefined> {
  const clock = manualClock()
  const given = await createStore({ clock })
  requireOptions(given, STORE_UNDER_TEST, 'the result of createStore')
  const { store } = given
  const audit: AuditLog = new AuditLog({ store, types: {}, links: LINKS })
  const { abilities, undo } = abilitiesOf(given)
  try {
    const has = { ...given, ledger: store.ledger, scrub: store.scrub ? true : undefined }
    const missing = needs.find((ability) => !has[ability])
    if (missing) return `the ${store.name} store ${reasons[missing]}`
    const context: Context = { store, audit, clock }
    await body({ ...context, ...abilities })
    return undefined
  } finally {
    await undo()
    await audit.close()
    await given.dispose?.()
  }
}

const allCases: readonly Case[] = [
  [
    appendCases,
    valueCases,
    readCases,
    consistencyCases,
    filterCases,
    freeTextCases,
    sealedPartCases,
    orderCases,
    importCases,
    removeCases,
    rangeCases,
    scrubCases,
  ],
  [
    throttleCases,
    suppressedCases,
    liveCases,
    liveChangeCases,
    liveReadingCases,
    stateCases,
    excessCases,
    ledgerCases,
    ledgerChangeCases,
    countCases,
    groupCases,
    explainCases,
  ],
  [
    watchCases,
    tailCases,
    transactionCases,
    transactionThrottleCases,
    outageCases,
    reopenCases,
    closeCases,
  ],
].flat(2)

/**
 * Returns the rules of the `EventStore` contract as cases for any test runner. `run` creates a store,
 * runs one case and rejects if the store breaks the rule. If the case needs an ability that the store
 * lacks, `run` resolves to the reason; print it.
 */
export function storeConformance(createStore: CreateStore): ConformanceCase[] {
  return allCases.map((one) => ({
    name: one.name,
    ...(one.needs.length > 0 ? { needs: one.needs } : {}),
    run: () => runCase(one, createStore),
  }))
}
