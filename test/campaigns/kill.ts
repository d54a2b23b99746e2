import path from 'node:path'
import { type AuditEvent, AuditLog } from 'daybook'
import { follow, OVER } from '../support/followed.js'
import { compileSources } from '../support/global-compiled.js'
import { openStore } from '../support/open-store.js'
import { tempDir } from '../support/temp.js'
import { allEvents } from '../support/reported-losses.js'
import { checkOf, dataOf, privacyOf } from './kill-child.js'
import type { Campaign } from './run.js'
import { createBegin, killInTurn, killRounds, type KillRound, type Life } from './shared/lives.js'
import { startProcess } from './shared/process.js'
import { runLogs } from './shared/rounds.js'

/*
 * Three processes record into one log. In each round one of them is killed with SIGKILL. Its successor repeats the
 * calls that were not acknowledged, with the same idempotency keys. A log serves for several rounds, and the logs
 * alternate between SQLite and Postgres. No acknowledged event may be lost, doubled, out of order or damaged, and none may have its personal
 * value in clear. A
 * follower must get each event once, in order.
 */

interface Kept {
  readonly id: string
  readonly created_at: string
}

/** The calls that the processes of a log have acknowledged. */
interface Acknowledged {
  readonly kept: Map<string, Kept>
  /** Times in the order of the acknowledgements, by life and lane. */
  readonly lanes: Map<string, string[]>
}

interface RecordingLife extends Life {
  /** The keys without an acknowledgement. */
  readonly open: Set<string>
}

/** Starts a process that first repeats the calls with these keys. */
function startLife(
  [file, location, keys, name]: readonly [string, string, string, string],
  repeated: readonly string[],
  { kept, lanes }: Acknowledged,
): RecordingLife {
  const open = new Set(repeated)
  const { began, begin } = createBegin()
  const args = [file, location, keys, name, JSON.stringify(repeated)]
  const running = startProcess(name, args, (line) => {
    const [word, lane, key, id, created_at] = line.split(' ') as [
      string,
      string,
      string,
      string,
      string,
    ]
    if (word === 'begin') open.add(key)
    if (word !== 'kept') return
    open.delete(key)
    if (kept.has(key)) throw new Error(`${key} was acknowledged twice`)
    kept.set(key, { id, created_at })
    // A repeated call may get the event of an earlier life.
    if (key.startsWith(`${name}:`)) {
      const place = `${name}:${lane}`
      lanes.set(place, [...(lanes.get(place) ?? []), created_at])
    }
    begin()
  })
  return { running, began, open }
}

interface Figures {
  kept: number
  repeated: number
  logs: number
}

function checkEvents(events: readonly AuditEvent[], { kept, lanes }: Acknowledged): void {
  const found = new Map<string, AuditEvent>()
  for (const event of events) {
    if (event.type !== 'test:killed') continue
    const { key, check } = event.attributes as Record<'key' | 'check', string>
    if (found.has(key)) throw new Error(`doubled: ${key}`)
    if (check !== checkOf(key)) throw new Error(`damaged: ${key}`)
    found.set(key, event)
  }
  for (const [key, { id, created_at }] of kept) {
    const event = found.get(key)
    if (!event) throw new Error(`lost: ${key}`)
    if (event.id !== id || event.created_at !== created_at) throw new Error(`changed: ${key}`)
  }
  for (const [lane, times] of lanes)
    for (let i = 1; i < times.length; i++)
      if (times[i - 1]! >= times[i]!) throw new Error(`out of order: ${lane}, ${times[i]}`)
  for (let i = 1; i < events.length; i++)
    if (events[i - 1]!.created_at >= events[i]!.created_at)
      throw new Error(`out of order: ${events[i]!.id}`)
}

async function runLog(
  file: string,
  location: string,
  plan: readonly KillRound[],
  figures: Figures,
): Promise<void> {
  await using temp = { ...tempDir(), [Symbol.asyncDispose]: async () => temp.remove() }
  const keys = temp.file('subjects.db')
  const privacy = privacyOf(keys)
  await using audit: AuditLog = new AuditLog({ store: openStore(location), types: {}, privacy })
  await audit.recordCustom('test:begin')
  const following = follow(audit)
  following.catch(() => {})
  const acknowledged: Acknowledged = { kept: new Map(), lanes: new Map() }
  const last = await killInTurn<RecordingLife>(plan, (name, before) => {
    const repeated = [...(before?.open ?? [])]
    figures.repeated += repeated.length
    return startLife([file, location, keys, name], repeated, acknowledged)
  })
  for (const key of last.flatMap(({ open }) => [...open])) {
    const event = await audit.recordCustom('test:killed', dataOf(key), { idempotencyKey: key })
    acknowledged.kept.set(key, event!)
    figures.repeated += 1
  }
  const events = await allEvents(audit)
  for await (const page of audit.pages('', { personal: 'stored' }))
    for (const { id, attributes } of page)
      if (Object.hasOwn(attributes, 'check')) throw new Error(`not encrypted: ${id}`)
  await audit.recordCustom(OVER)
  const followed = await following
  checkEvents(events, acknowledged)
  if (followed.join() !== events.map(({ id }) => id).join())
    throw new Error(`the follower got ${followed.length} of ${events.length} events, or others`)
  figures.kept += acknowledged.kept.size
  figures.logs += 1
}

export const campaign: Campaign = {
  rounds: 1000,
  async run(run) {
    const compiled = await compileSources()
    const file = path.join(compiled.folder, 'test/campaigns/kill-child.js')
    const figures: Figures = { kept: 0, repeated: 0, logs: 0 }
    const isPostgres = (log: number): boolean => log % 2 === 1
    await runLogs(run, { round: killRounds, perLog: 50, isPostgres, figures }, (location, some) =>
      runLog(file, location, some, figures),
    )
    await compiled.remove()
    return { ...figures }
  },
}
