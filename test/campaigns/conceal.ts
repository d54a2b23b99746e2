import { memoryLogs } from 'daybook/memory'
import { clock, EVENTS, PROBES } from '../support/concealed.js'
import { HOSTS, leaksOf, RULES, serveLog, serveLogs } from '../support/concealed-servers.js'
import { memoryPlace, sqlitePlace } from '../support/event-stores.js'
import type { Campaign } from './run.js'

/*
 * Sends all probes to each framework, on the memory store and SQLite in turn, and for several logs. An answer must be that of a log whose events
 * never had the concealed attributes. A round is one framework with one store.
 */

export const campaign: Campaign = {
  rounds: 2 * HOSTS.length,
  async run({ from, rounds, store: chosen, failed }) {
    const all = { memory: memoryPlace, sqlite: sqlitePlace }
    const stores = Object.entries(all).filter(([name]) => chosen === undefined || name === chosen)
    let sent = 0
    let leaks = 0
    for (let round = from; round < rounds; round++) {
      const host = HOSTS[round % HOSTS.length]!
      const isSeveral = round % 4 === 3
      const [name, create] = stores[round % stores.length]!
      const [place, modelPlace] = await Promise.all([create(), memoryPlace()])
      const [given, model] = isSeveral
        ? [
            await serveLogs(host, memoryLogs({ clock }), EVENTS.stored, RULES),
            await serveLogs('node:http', memoryLogs({ clock }), EVENTS.shown),
          ]
        : [
            await serveLog(host, place.open(clock), EVENTS.stored, RULES),
            await serveLog('node:http', modelPlace.open(clock), EVENTS.shown),
          ]
      const found = await leaksOf(given, model)
      sent += PROBES.length
      leaks += found.length
      for (const leak of found) failed(`${host}, ${isSeveral ? 'several logs' : name}: ${leak}`)
      await Promise.all([given, model].map((one) => one.close()))
      for (const one of [place, modelPlace]) await one.remove()
    }
    return { sent, leaks }
  },
}
