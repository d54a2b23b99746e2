import { memoryLogs, memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { clock, EVENTS, PROBES } from '../support/concealed.js'
import {
  HOSTS,
  leaksOf,
  RULES,
  type Served,
  serveLog,
  serveLogs,
} from '../support/concealed-servers.js'
import { tempDir } from '../support/temp.js'

const closing = <Server extends Served>(server: Server): Server => {
  onTestFinished(() => server.close())
  return server
}

/** Each host gets other requests; `test/campaigns/conceal.ts` sends all of them to all hosts and stores. */
const SHARE = Number(process.env['SHARE'] ?? 16)
const shareOf = (n: number) => PROBES.filter((_, i) => i % SHARE === n % SHARE)

it('requests tell nothing of concealed attributes and hidden events', async () => {
  const temp = tempDir()
  onTestFinished(() => temp.remove())
  const model = closing(await serveLog('node:http', memoryStore({ clock }), EVENTS.shown))
  for (const [i, host] of HOSTS.entries()) {
    const store =
      i % 2 === 0 ? memoryStore({ clock }) : sqliteStore({ filename: temp.file(`${i}.db`), clock })
    const given = closing(await serveLog(host, store, EVENTS.stored, RULES))
    expect(await leaksOf(given, model, shareOf(i)), host).toEqual([])
  }
})

it('nor do requests for several logs', async () => {
  const model = closing(await serveLogs('node:http', memoryLogs({ clock }), EVENTS.shown))
  const given = closing(await serveLogs('Fetch', memoryLogs({ clock }), EVENTS.stored, RULES))
  expect(await leaksOf(given, model, shareOf(HOSTS.length))).toEqual([])
})
