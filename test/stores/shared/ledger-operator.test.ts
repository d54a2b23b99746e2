import {
  AuditLog,
  type AuditEvent,
  type AuditLogOptions,
  type EventStore,
  type EventTypes,
} from 'daybook'
import { directoryAnchor, keyFile } from 'daybook/ledger'
import { memoryStore } from 'daybook/memory'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { generateKey } from '../../../src/ledger/key-file.js'
import { manualClock } from 'daybook/testing'
import { startVerifications, takeTurn } from '../../../src/ledger/scheduled-verification.js'
import { readStatement } from '../../../src/ledger/entry.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { type LedgerPlace, ledgerPlaces } from '../../support/ledger-places.js'
import { tempDir } from '../../support/temp.js'

/* What operators do with a ledger: adopt, restart, acknowledge, and verify on a schedule. */

type Options = Partial<AuditLogOptions<EventTypes>>

let key: LedgerKey
beforeEach(async () => {
  key = await ledgerKey()
  return key.remove
})

const open = (store: EventStore, options: Options = {}): AuditLog => {
  const audit = new AuditLog({
    store,
    types: {},
    ledger: { origin: ORIGIN, signer: key.signer },
    ...options,
  })
  onTestFinished(() => audit.close())
  return audit
}

const newPlace = (create: () => LedgerPlace): LedgerPlace => {
  const place = create()
  onTestFinished(() => place.remove())
  return place
}

async function record(audit: AuditLog, count: number): Promise<AuditEvent[]> {
  const calls = Array.from({ length: count }, (_, n) => audit.recordCustom('test:event', { n }))
  return (await Promise.all(calls)).map((event) => event!)
}

const ownEvents = async (audit: AuditLog): Promise<[type: string, attributes: object][]> =>
  (await audit.list('filter[type_cont]=:audit_log:&filter[sorts]=created_at')).events.map(
    ({ type, attributes }) => [type, attributes],
  )

/** Another key, as `daybook keygen` makes it. */
async function otherKey(origin: string) {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const name = file('other.pem')
  await generateKey(origin, name)
  return { origin, signer: keyFile(name) }
}

describe.each(Object.entries(ledgerPlaces))('a ledger on the %s store', (_, create) => {
  it('adopts the events that were there before it', async () => {
    const place = newPlace(create)
    const before = open(place.open(), { ledger: undefined })
    const old = await record(before, 300)
    await before.close()
    const audit = open(place.open())
    await record(audit, 3)
    await audit.ledger.checkpoint()
    await expect(audit.ledger.prove(old[0]!.id)).rejects.toMatchObject({ code: 'NOT_SEALED' })
    expect(await audit.ledger.adopt()).toBe(300)
    expect(await audit.ledger.adopt()).toBe(0)
    expect(await ownEvents(audit)).toEqual([
      ['info:audit_log:adopt', { count: 300 }],
      ['info:audit_log:adopt', { count: 0 }],
    ])
    const heads = [await audit.ledger.checkpoint()]
    for (const n of [0, 255, 299]) expect(await audit.ledger.prove(old[n]!.id)).toBeDefined()
    expect(await audit.ledger.verify({ heads })).toMatchObject({ result: 'intact', events: 305 })
    await place.edit(old[200], { ...old[200]!, username: 'eve' })
    await place.edit(old[201], undefined)
    const { findings } = await audit.ledger.verify({ heads })
    expect(findings.map(({ kind, created_at }) => [kind, created_at])).toEqual([
      ['changed', old[200]!.created_at],
      ['removed', old[201]!.created_at],
    ])
  })

  it('begins anew with another key, after a copy from before was put back', async () => {
    const place = newPlace(create)
    const audit = open(place.open())
    const events = await record(audit, 300)
    const first = await audit.ledger.checkpoint()
    await expect(audit.ledger.restart({ reason: 'x' })).rejects.toThrow('new origin and a new key')
    await audit.close()
    await place.edit(events[299], undefined)
    const ledger = await otherKey('audit.example.com/orders-2')
    const next = open(place.open(), { ledger })
    await expect(next.ledger.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_DIVERGED' })
    expect(await next.ledger.status()).toMatchObject({ state: 'diverged' })
    await expect(next.ledger.restart({ reason: ' ' })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
    await expect(next.ledger.restart({ reason: 'x', head: 'y' })).rejects.toThrow('signed note')
    await expect(next.ledger.restart(undefined as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
    await next.ledger.restart({ reason: 'restored the backup of Monday', head: first })
    expect(await next.ledger.adopt()).toBe(299)
    const [one] = await next.store.ledger!.statements(0, 1)
    expect(readStatement(one!.entry)).toEqual({
      kind: 'continues',
      note: first,
      size: 301,
      reason: 'restored the backup of Monday',
    })
    expect((await ownEvents(next)).map(([type]) => type)).toEqual([
      'info:audit_log:restart',
      'info:audit_log:adopt',
    ])
    const heads = [await next.ledger.checkpoint()]
    const verified = await next.ledger.verify({ heads })
    expect(verified).toMatchObject({ result: 'intact', findings: [], events: 301 })
    // The old key signs the new ledger no more.
    await next.close()
    const old = open(place.open())
    await expect(old.ledger.checkpoint()).rejects.toMatchObject({ code: 'LEDGER_DIVERGED' })
  })

  it('lists acknowledged findings, until something else is found there', async () => {
    const place = newPlace(create)
    const audit = open(place.open())
    const events = await record(audit, 20)
    const heads = [await audit.ledger.checkpoint()]
    const changed = { ...events[5]!, username: 'eve' }
    await place.edit(events[5], changed)
    await place.edit(events[9], undefined)
    const before = await audit.ledger.verify({ heads })
    expect(before.result).toBe('tampered')
    expect(before.findings).toHaveLength(2)
    expect((await audit.health()).ledger).toMatchObject({
      status: 'warn',
      error: expect.stringContaining('the last verification has 2 findings') as string,
    })
    const options = { reason: 'ticket 17: corrected by hand' }
    for (const [findings, given] of [
      [[], options],
      ['x', options],
      [[{}], options],
      [before.findings, {}],
      [before.findings, { reason: 5 }],
      [before.findings, { ...options, reasn: 'x' }],
    ] as const)
      await expect(
        audit.ledger.acknowledge(findings as never, given as never),
      ).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      })
    await audit.ledger.acknowledge(before.findings, options)
    const after = await audit.ledger.verify({ heads })
    expect(after.result).toBe('intact')
    expect(after.findings).toEqual(
      before.findings.map((one) => ({ ...one, acknowledged: options.reason })),
    )
    expect((await ownEvents(audit)).map(([type, { ...data }]) => [type, data])).toMatchObject([
      ['error:audit_log:verification', { result: 'tampered', finding_count: 2 }],
      ['info:audit_log:acknowledge', { count: 2, reason: options.reason }],
      ['info:audit_log:verification', { result: 'intact', finding_count: 2 }],
    ])
    expect((await audit.health()).ledger).toBeUndefined()
    await place.edit(changed, { ...changed, username: 'mallory' })
    const later = await audit.ledger.verify({ heads })
    expect(later.result).toBe('tampered')
    expect(later.findings.map(({ acknowledged }) => acknowledged === undefined)).toEqual([
      true,
      false,
    ])
  })
})

it('verifications take turns', async () => {
  const clock = manualClock()
  const store = memoryStore({ clock })
  const turn = (): Promise<boolean> => takeTurn(store, { days: 1 }, {})
  expect([await turn(), await turn()]).toEqual([true, false])
  clock.advance(86_400_000_000 - 1)
  expect(await turn()).toBe(false)
  clock.advance(1)
  expect([await turn(), await turn()]).toEqual([true, false])
  for (const every of [{}, { days: 0 }, { day: 1 }, '1 day', null])
    expect(() =>
      open(memoryStore(), {
        ledger: { origin: ORIGIN, signer: key.signer, verify: { every: every as never } },
      }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

it('a verification that fails is reported, and repeated before its next turn', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const answers = [new Error('no disk'), new Error('no disk'), undefined]
  const failures: unknown[] = []
  const verify = vi.fn(async () => {
    const answer = answers.shift()
    if (answer) throw answer
  })
  const stop = startVerifications({
    store: memoryStore(),
    every: { days: 1 },
    isSealing: () => true,
    verify,
    onFailure: (error) => void failures.push(error),
  })
  onTestFinished(stop)
  for (const [ms, calls] of [
    [60_000, 1],
    [600_000, 2],
    [600_000, 3],
    [600_000, 3],
  ] as const) {
    await vi.advanceTimersByTimeAsync(ms)
    expect(verify).toHaveBeenCalledTimes(calls)
  }
  expect(failures).toHaveLength(2)
})

it('a verification that waits for an anchor can be aborted', async () => {
  const anchor = {
    name: 'stuck',
    publish: async () => {},
    latest: () => new Promise<undefined>(() => {}),
  }
  const ledger = {
    origin: ORIGIN,
    signer: key.forgetful,
    anchors: [{ anchor, every: { days: 1 } }],
  }
  const audit = open(memoryStore(), { ledger })
  await record(audit, 1)
  const ended = new AbortController()
  const verified = audit.ledger.verify({ signal: ended.signal })
  ended.abort()
  await expect(verified).rejects.toMatchObject({ code: 'ABORTED' })
  expect(await ownEvents(audit)).toEqual([])
})

it('anchors get heads, and verifications use them', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const notes: string[] = []
  const failing = { name: 'failing', publish: () => Promise.reject(new Error('no route')) }
  const list = { name: 'list', publish: async (note: string) => void notes.push(note) }
  const every = { seconds: 0.02 }
  const anchors = [directoryAnchor(file('anchor')), list, failing].map((anchor) => ({
    anchor,
    every,
  }))
  const store = memoryStore()
  const audit = open(store, { ledger: { origin: ORIGIN, signer: key.forgetful, anchors } })
  await record(audit, 3)
  await vi.waitFor(() => expect(notes.at(-1)).toContain('\n4\n'))
  await vi.waitFor(async () => {
    const { anchors: found } = await audit.ledger.status()
    expect(found).toMatchObject([{ size: 4 }, { name: 'list', size: 4 }, { error: 'no route' }])
  })
  expect((await audit.health()).ledger).toMatchObject({
    status: 'warn',
    error: 'the anchor failing failed: no route',
  })
  expect(await directoryAnchor(file('anchor')).latest!()).toBe(notes.at(-1))
  // The signer keeps no note, so the head from outside is the one of the anchor.
  expect(await audit.ledger.verify()).toMatchObject({ result: 'intact', provedSize: 4 })
})

it('anchors that are wrong are refused', () => {
  const anchor = { name: 'a', publish: async () => {} }
  const every = { days: 1 }
  for (const anchors of [
    {},
    [{}],
    [{ anchor, every: {} }],
    [{ anchor: { name: '' }, every }],
    [{ anchor: null, every }],
    [
      { anchor, every },
      { anchor, every },
    ],
  ])
    expect(() =>
      open(memoryStore(), {
        ledger: { origin: ORIGIN, signer: key.signer, anchors: anchors as never },
      }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  expect(() => directoryAnchor('')).toThrow('path of a directory')
})

it('an acknowledgement that only stands in the tables does not count', async () => {
  const place = newPlace(ledgerPlaces.memory)
  const audit = open(place.open())
  const events = await record(audit, 20)
  const heads = [await audit.ledger.checkpoint()]
  await place.edit(events[9], undefined)
  const { findings } = await audit.ledger.verify({ heads })
  await audit.ledger.acknowledge(findings, { reason: 'known' })
  await audit.close()
  const { ledger } = place.open()
  const one = (await ledger!.statements(0, 100)).find(({ entry }) => entry.includes('known'))
  const state = (await ledger!.state())!
  const statements = [{ leaf: one!.leaf, entry: one!.entry.replace('known', 'other') }]
  const nothing = { rows: [], nodes: [], late: [] }
  await ledger!.append({ before: state, after: state, statements, ...nothing })
  const reader = open(place.open(), { ledger: { origin: ORIGIN, key: key.vkey } })
  const after = await reader.ledger.verify({ heads })
  expect(after.findings.map(({ kind, acknowledged }) => [kind, acknowledged])).toEqual([
    ['removed', undefined],
    ['ledger', undefined],
  ])
})

it('a read-only verification leaves no event', async () => {
  const store = memoryStore()
  const audit = open(store)
  await record(audit, 3)
  await audit.ledger.checkpoint()
  const reader = open(
    { ...store, close: () => Promise.resolve() },
    { readOnly: true, ledger: { origin: ORIGIN, key: key.vkey } },
  )
  expect((await reader.ledger.verify()).result).toBe('self-consistent')
  expect(await ownEvents(audit)).toEqual([])
})
