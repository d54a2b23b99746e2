import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Case, cases } from './context.js'
import { everything, imported, recordSome, timeOf } from './helpers.js'

// A hint may come late: one that was on its way has had time to come.
const LATE_MS = 300

/*
 * A hint may come without reason, late or not at all, so no case can ask for one; only for silence
 * where nobody listens any more.
 */
export const watchCases: readonly Case[] = cases({
  async 'watch: disturbs nothing'({ store, audit }) {
    const stops = [store.watch(() => {}), store.watch(() => {})]
    const events = await recordSome(audit, 3)
    await audit.importEvents([imported()])
    assert.deepEqual(await everything(audit), [imported(), ...events])
    await store.removeBefore(timeOf(events[0]))
    for (const stop of stops) stop()
    assert.deepEqual(await everything(audit), events)
  },

  async 'watch: once stopped it gives no hint, and may be stopped again'({ store, audit }) {
    let hints = 0
    const stop = store.watch(() => hints++)
    await recordSome(audit, 1)
    assert.equal(stop(), undefined)
    stop()
    const before = hints
    await recordSome(audit, 1)
    await delay(LATE_MS)
    assert.equal(hints, before)
    stop()
  },

  async 'watch: stopped within a hint'({ store, audit }) {
    let hints = 0
    const stop = store.watch(() => {
      hints++
      stop()
    })
    await recordSome(audit, 1)
    await recordSome(audit, 1)
    await delay(LATE_MS)
    stop()
    assert.ok(hints <= 1)
  },

  async 'watch: the same function twice, stopped one by one'({ store, audit }) {
    let hints = 0
    const hint = (): void => void hints++
    const stops = [store.watch(hint), store.watch(hint)]
    await recordSome(audit, 1)
    stops[0]!()
    stops[0]!()
    await recordSome(audit, 1)
    stops[1]!()
    const before = hints
    await recordSome(audit, 1)
    await delay(LATE_MS)
    assert.equal(hints, before)
  },

  async 'watch: ends with close'({ store, audit }) {
    let hints = 0
    const stop = store.watch(() => hints++)
    await recordSome(audit, 1)
    await audit.close()
    const before = hints
    await delay(LATE_MS)
    assert.equal(hints, before)
    stop()
  },
})
