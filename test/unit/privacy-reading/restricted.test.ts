import { AuditLogs, type EventTypes } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import { expect, it, onTestFinished } from 'vitest'
import type { PersonalForm } from '../../../src/reading/personal-values.js'
import type { Restriction } from '../../../src/restricted-log.js'
import { openPersonalLog } from '../../support/personal-log.js'
import { errorWith, refusalOf } from '../errors.js'

const CONCEAL = { conceal: ['address'] } satisfies Restriction

it('a restricted log reads the sealed form', async () => {
  const { audit, update } = openPersonalLog()
  const { id } = await update('c17')
  const shown = audit.restricted(CONCEAL)
  const text = JSON.stringify([
    await shown.list(),
    await shown.get(id),
    await shown.pages().next(),
    await shown.tail('', { after: '2000-01-01T00:00:00.000000Z' }).next(),
  ])
  expect(text.match(/"sealed":true/g)).toHaveLength(8)
  expect(text).not.toContain('c17@example.com')
  for (const personal of ['sealed', 'stored'] as const)
    expect(JSON.stringify(await shown.get(id, { personal }))).not.toContain('example.com')
  await expect(shown.list('', { personal: 'open' })).rejects.toEqual(
    errorWith('INVALID_OPTION', 'restriction'),
  )
  await expect(shown.get(id, { personal: 'opened' as PersonalForm })).rejects.toEqual(
    errorWith('INVALID_OPTION', 'personal must be'),
  )
})

it('opens the values for a reader who may see them, without the concealed ones', async () => {
  const { audit, update } = openPersonalLog()
  const { id } = await update('c17')
  const shown = audit.restricted({ ...CONCEAL, personal: 'open' })
  const opened = { email: 'c17@example.com', remote_address: '192.0.2.7' }
  for (const event of [await shown.get(id), (await shown.list()).events[0]]) {
    expect(event!.attributes).toMatchObject(opened)
    expect(event!.attributes).not.toHaveProperty('address')
  }
  const sealed = await shown.get(id, { personal: 'sealed' })
  expect(sealed!.attributes).not.toHaveProperty('email')
})

it('decides by the stored form what is visible, in each way', async () => {
  const { audit, update } = openPersonalLog()
  const { id } = await update('c17')
  // The encrypted text is in no text that the filter reads.
  const shown = audit.restricted({ visible: { '*_cont': 'c17@example' }, personal: 'open' })
  expect((await shown.list()).events).toEqual([])
  expect(await shown.get(id)).toBeUndefined()
  const all = audit.restricted({ visible: { '*_not_cont': 'c17@example' }, personal: 'open' })
  expect((await all.get(id))!.attributes).toHaveProperty('email')
  expect((await all.list()).events).toHaveLength(1)
})

it('refuses to open values without keys, and other forms', () => {
  const { audit } = openPersonalLog({ privacy: false })
  expect(refusalOf(() => audit.restricted({ ...CONCEAL, personal: 'open' }))).toMatchObject({
    code: 'INVALID_OPTION',
  })
  const { audit: other } = openPersonalLog()
  const wrong = { ...CONCEAL, personal: 'stored' } as unknown as Restriction
  expect(refusalOf(() => other.restricted(wrong)).message).toContain("'open' or 'sealed'")
  expect(refusalOf(() => other.restricted({ personal: 'open' })).message).toContain('visible')
})

it('several logs read the sealed form', async () => {
  const { audit, update } = openPersonalLog()
  const { id } = await update('c17')
  const stored = (await audit.get(id, { personal: 'stored' }))!
  const logs = new AuditLogs<EventTypes>({ stores: memoryLogs(), types: {} })
  onTestFinished(() => logs.close())
  await logs.log('a').importEvents([stored])
  const after = '2000-01-01T00:00:00.000000Z'
  const read = [
    (await logs.list()).events[0]!.event,
    (await logs.pages().next()).value![0]!.event,
    (await logs.tail('', { after }).next()).value!.event,
    await logs.log('a').get(id),
  ]
  for (const event of read) {
    expect(JSON.stringify(event).match(/"sealed":true/g)).toHaveLength(2)
    expect(JSON.stringify(event)).not.toContain('"data"')
  }
})

it('several logs have no keys, and say so', async () => {
  const logs = new AuditLogs<EventTypes>({ stores: memoryLogs(), types: { 'own:note': {} } })
  onTestFinished(() => logs.close())
  await logs.log('a').record('own:note', { text: 'x' })
  const open = { personal: 'open' } as object
  await expect(logs.list('', open)).rejects.toEqual(errorWith('INVALID_OPTION', 'personal'))
  await expect(logs.log('a').list('', open)).rejects.toEqual(
    errorWith('INVALID_OPTION', 'option privacy'),
  )
  expect(() => logs.restricted({ ...CONCEAL, ...open })).toThrow('personal')
})
