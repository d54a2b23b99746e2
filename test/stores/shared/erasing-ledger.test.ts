import fs from 'node:fs'
import type { AuditEvent, AuditLog } from 'daybook'
import { checkProof } from 'daybook/ledger'
import { memorySubjectKeys } from 'daybook/memory'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventJson } from '../../../src/event/body.js'
import type { SubjectKeys } from '../../../src/privacy/subject-keys.js'
import { runCli } from '../../cli/run-cli.js'
import { kept, openPersonal, REQUEST, UPDATE } from '../../support/erasing.js'
import { type LedgerKey, ledgerKey, ORIGIN } from '../../support/ledger-key.js'
import { type LedgerPlace, ledgerPlaces } from '../../support/ledger-places.js'
import { tempDir } from '../../support/temp.js'

const ERASED = 'filter[type_eq]=info:audit_log:erase'

describe.each(Object.entries(ledgerPlaces))('erasing with a ledger on %s', (_name, createPlace) => {
  const temp = tempDir()
  let place: LedgerPlace
  let key: LedgerKey
  let keys: SubjectKeys
  const logs: AuditLog[] = []

  const open = (signer: LedgerKey['signer'] | undefined = key.signer): AuditLog => {
    const ledger = { origin: ORIGIN, signer }
    const audit = openPersonal(place.open(), kept(keys), { ledger })
    logs.push(audit)
    return audit
  }
  beforeEach(async () => {
    place = createPlace()
    key = await ledgerKey()
    keys = memorySubjectKeys()
  })
  afterEach(async () => {
    for (const audit of logs.splice(0)) await audit.close()
    await keys.close()
    await place.remove()
    key.remove()
    temp.remove()
  })

  const record = async (audit: AuditLog, customer: string): Promise<AuditEvent> =>
    (await audit.recordSystem(UPDATE, { customer_id: customer, email: `${customer}@example.com` }))!
  /** The export line of the stored event, which the ledger proves. */
  const lineOf = async (audit: AuditLog, { id }: AuditEvent): Promise<string> =>
    eventJson((await audit.store.get(id))!)
  /** The result of a verification, without its duration and the number of events. */
  const verified = async (audit: AuditLog, heads: readonly string[]) => {
    const { result, findings } = await audit.ledger.verify({ heads })
    return { result, findings }
  }

  it('keeps the proofs of the events, and proves the erasure', async () => {
    const audit = open()
    const event = await record(audit, 'c17')
    const head = await audit.ledger.checkpoint()
    const proof = (await audit.ledger.prove(event.id))!
    const line = await lineOf(audit, event)
    const before = await verified(audit, [head])
    expect(before).toEqual({ result: 'intact', findings: [] })
    const { ref } = await audit.erase({ customer: 'c17' }, REQUEST)
    expect(await verified(audit, [head, await audit.ledger.checkpoint()])).toEqual(before)
    expect(await lineOf(audit, event)).toBe(line)
    expect(line).not.toContain('c17@example.com')
    for (const text of [proof, (await audit.ledger.prove(event.id))!])
      expect(await checkProof({ proof: text, event: line, policy: key.vkey })).toMatchObject({
        event: { id: event.id },
      })

    const [erasure] = (await audit.list(ERASED)).events
    await audit.ledger.checkpoint()
    fs.writeFileSync(temp.file('proof'), (await audit.ledger.prove(erasure!.id))!)
    fs.writeFileSync(temp.file('line'), await lineOf(audit, erasure!))
    expect(fs.readFileSync(temp.file('line'), 'utf8')).toContain(ref!)
    const args = ['check-proof', temp.file('proof'), temp.file('line'), '--key', key.vkey]
    const { exit, stdout } = await runCli(args)
    expect([exit, stdout]).toEqual([0, expect.stringContaining(`proved: event ${erasure!.id} `)])
    fs.writeFileSync(
      temp.file('line'),
      (await lineOf(audit, erasure!)).replace('"count":1', '"count":2'),
    )
    expect((await runCli(args)).exit).toBe(1)
  })

  it('removes events by a signed statement', async () => {
    const audit = open()
    const [event, other] = [await record(audit, 'c17'), await record(audit, 'c18')]
    const head = await audit.ledger.checkpoint()
    expect(await audit.erase({ ids: [event.id] }, REQUEST)).toMatchObject({ events: 1 })
    expect(await audit.get(event.id)).toBeUndefined()
    expect(await verified(audit, [head])).toEqual({ result: 'intact', findings: [] })
    expect(await audit.ledger.prove(other.id)).toBeDefined()
    const statements = await audit.store.ledger!.statements(0, 100)
    expect(statements.filter(({ entry }) => entry.startsWith('removed '))).toHaveLength(1)
  })

  it('removes no event in a process that does not seal', async () => {
    const sealing = open()
    const event = await record(sealing, 'c17')
    await sealing.ledger.checkpoint()
    const audit = openPersonal(place.open(), kept(keys))
    logs.push(audit)
    await expect(audit.erase({ ids: [event.id] }, REQUEST)).rejects.toMatchObject({
      code: 'SIGNER_REQUIRED',
    })
    expect(await audit.get(event.id)).toBeDefined()
    expect(await audit.erasures()).toEqual([])
    expect(await audit.erase({ customer: 'c17' }, REQUEST)).toMatchObject({ events: 1 })
  })
})
