import { AuditLog } from '../audit-log.js'
import { appendCases } from './conformance/append.js'
import { closeCases } from './conformance/close.js'
import type {
  Abilities,
  Ability,
  Case,
  Context,
  CreateStore,
  StoreUnderTest,
} from './conformance/context.js'
import { countCases } from './conformance/count.js'
import { dueCases } from './conformance/due.js'
import { explainCases } from './conformance/explain.js'
import { filterCases } from './conformance/filter.js'
import { importCases } from './conformance/import.js'
import { liveCases } from './conformance/live.js'
import { liveChangeCases } from './conformance/live-changes.js'
import { liveReadingCases } from './conformance/live-reading.js'
import { orderCases } from './conformance/order.js'
import { outageCases } from './conformance/outage.js'
import { readCases } from './conformance/read.js'
import { removeCases } from './conformance/remove.js'
import { reopenCases } from './conformance/reopen.js'
import { stateCases } from './conformance/state.js'
import { suppressedCases } from './conformance/suppressed.js'
import { tailCases } from './conformance/tail.js'
import { throttleCases } from './conformance/throttle.js'
import { transactionCases } from './conformance/transaction.js'
import { transactionThrottleCases } from './conformance/transaction-throttle.js'
import { valueCases } from './conformance/values.js'
import { watchCases } from './conformance/watch.js'
import { manualClock } from './conformance/manual-clock.js'

export interface ConformanceCase {
  /** `<method>: <rule>` */
  readonly name: string
  /** What the case cannot do without; where the store cannot, `run` resolves to the reason. */
  readonly needs?: readonly Ability[]
  /** Rejects with an `AssertionError` where the store is wrong; resolves to why it was skipped. */
  readonly run: () => Promise<string | undefined>
}

const lacking: Readonly<Record<Ability, string>> = {
  reopen: 'cannot be opened twice',
  transaction: 'takes part in no transaction of a host',
  interrupt: 'cannot be interrupted',
  loseAcknowledgement: 'loses no acknowledgement',
}

/** The abilities of one store, and what undoes whatever was not undone. */
function abilitiesOf(given: StoreUnderTest): { abilities: Abilities; undo: () => Promise<void> } {
  const open = new Set<() => Promise<unknown>>()
  /** A function that ends something, also where nobody calls it. */
  const ending = (end: () => Promise<void>): (() => Promise<void>) => {
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
        const end = ending(rollback)
        return {
          handle,
          async commit() {
            open.delete(end)
            await commit()
          },
          rollback: end,
        }
      },
      interrupt: async () => ending(await given.interrupt!()),
      loseAcknowledgement: (method) => given.loseAcknowledgement!(method),
    },
    async undo() {
      // The last thing begun first: a store cannot close while a transaction is in its way.
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
  const { store } = given
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const { abilities, undo } = abilitiesOf(given)
  try {
    const lacks = needs.find((ability) => !given[ability])
    if (lacks) return `the ${store.name} store ${lacking[lacks]}`
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
  [appendCases, valueCases, readCases, filterCases, orderCases, importCases, removeCases],
  [
    throttleCases,
    suppressedCases,
    liveCases,
    liveChangeCases,
    liveReadingCases,
    stateCases,
    dueCases,
    countCases,
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
 * The rules of the store contract as cases for any test runner: `run` rejects where the store
 * breaks one. A case that needs an ability which `createStore` does not give resolves to the reason
 * it was skipped; print it.
 */
export function storeConformance(createStore: CreateStore): ConformanceCase[] {
  return allCases.map((one) => ({
    name: one.name,
    ...(one.needs.length > 0 ? { needs: one.needs } : {}),
    run: () => runCase(one, createStore),
  }))
}
