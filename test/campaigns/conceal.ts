import { memoryLogs, memoryStore } from 'daybook/memory'
import { clock, EVENTS, PROBES } from '../support/concealed.js'
import {
  type Answers,
  answersOf,
  HOSTS,
  leaksOf,
  RULES,
  type Served,
  serveLog,
  serveLogs,
} from '../support/concealed-servers.js'
import { startOwnPostgres } from '../support/postgres.js'
import { tempDir } from '../support/temp.js'
import { type Location, type Place, PLACES } from './conceal/places.js'
import { differences, READERS, transcriptOf } from './conceal/transcript.js'
import type { Campaign } from './run.js'

/*
 * Sends all probes to a log on each kind of store, and to several logs: to each framework an eighth of them. An answer must be that of a
 * log whose events never had the concealed attributes. A round is one framework with one store.
 */

const serve = (host: string, place: Place, at: Location): Promise<Served> =>
  'open' in place
    ? serveLog(host, place.open(at), EVENTS.stored, RULES)
    : serveLogs(host, place.openLogs(at), EVENTS.stored, RULES)

/** Compares what subscriptions deliver, and what open streams send. */
async function readOn(
  host: string,
  place: Extract<Place, { open: unknown }>,
  at: Location,
): Promise<{ readonly sent: number; readonly leaks: readonly string[] }> {
  const [given, model] = await Promise.all([
    transcriptOf(host, place.open(at), READERS.given),
    transcriptOf('node:http', { store: memoryStore() }, READERS.model),
  ])
  return { sent: Object.keys(model).length, leaks: differences(given, model) }
}

export const campaign: Campaign = {
  rounds: PLACES.length * HOSTS.length,
  async run({ from, rounds, store: chosen, failed }) {
    const temp = tempDir()
    const needsPostgres = chosen === undefined || chosen === 'postgres'
    const server = needsPostgres ? await startOwnPostgres() : undefined
    const models = {
      open: await serveLog('node:http', { store: memoryStore({ clock }) }, EVENTS.shown),
      openLogs: await serveLogs('node:http', memoryLogs({ clock }), EVENTS.shown),
    }
    const answers: Record<string, Answers> = {
      open: answersOf(models.open),
      openLogs: answersOf(models.openLogs),
    }
    const figures = { sent: 0, leaks: 0 }
    const places = PLACES.filter(({ kind }) => chosen === undefined || kind === chosen)
    for (let round = from; round < Math.min(rounds, places.length * HOSTS.length); round++) {
      const number = Math.floor(round / HOSTS.length)
      const part = round % HOSTS.length
      const place = places[number]!
      const way = 'open' in place ? 'open' : 'openLogs'
      const host = HOSTS[(part + number) % HOSTS.length]!
      const at = { folder: temp.dir, url: server?.url ?? '', name: `log${round}` }
      const given = await serve(host, place, { ...at, options: { clock } })
      const probes = PROBES.filter((_, i) => i % HOSTS.length === part).filter(
        // The three kinds of several logs share the probes: their stores get the same queries as single logs.
        (_, i) => way === 'open' || i % 3 === number % 3,
      )
      const found = await leaksOf(given, answers[way]!, probes)
      figures.sent += probes.length
      figures.leaks += found.length
      for (const leak of found) failed(`${host}, ${place.kind}, ${way}: ${leak}`)
      await given.close()
      if (part < HOSTS.length - 1) continue
      if ('open' in place) {
        const followed = await readOn(host, place, { ...at, name: `on${round}`, options: {} })
        figures.sent += followed.sent
        figures.leaks += followed.leaks.length
        for (const leak of followed.leaks) failed(`${host}, ${place.kind}: ${leak}`)
      }
      console.log(place.kind, way, figures)
    }
    for (const model of Object.values(models)) await model.close()
    await server?.stop()
    temp.remove()
    return figures
  },
}
