import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { type Case, cases } from './context.js'
import { allEvents, imported, recordSome, timeOf } from './helpers.js'

// Hints may be late, so wait for pending hints.
const LATE_MS = 300

/*
 * A hint may be unnecessary, late or missing, so no case requires one. Cases only require that no
 * hint arrives after the watcher is stopped.
 */
export const watchCases: readonly Case[] = cases({
  async 'watch: does not affect reads and writes'({ store, audit }) {
    const stops = [store.watch(() => {}), store.watch(() => {})]
    const events = await recordSome(audit, 3)
    await audit.importEvents([imported()])
    assert.deepEqual(await allEvents(audit), [imported(), ...events])
    await store.removeBefore(timeOf(events[0]))
    for (const stop of stops) stop()
    assert.deepEqual(await allEvents(audit), events)
  },

  async 'watch: a stopped watcher gets no hint and can be stopped again'({ store, audit }) {
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

  async 'watch: can be stopped during a hint'({ store, audit }) {
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

  async 'watch: the same function can watch twice and is stopped separately'({ store, audit }) {
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

  async 'watch: ends when the store is closed'({ store, audit }) {
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
