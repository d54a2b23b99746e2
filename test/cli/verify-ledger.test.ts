import fs from 'node:fs'
import { AuditLog } from 'daybook'
import { checkProof } from 'daybook/ledger'
import { auditRoutes, basicAuth } from 'daybook/node'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LedgerKey, ledgerKey, ORIGIN } from '../support/ledger-key.js'
import { listen } from '../support/node-server.js'
import { execute } from '../support/sqlite-file.js'
import { tempDir } from '../support/temp.js'
import { send, signIn, startServing } from './serving.js'
import { runCli } from './run-cli.js'

const temp = tempDir()
const log = temp.file('audit.db')
const plain = temp.file('plain.db')
const head = temp.file('monday.note')
const config = temp.file('config.mjs')
const anchored = temp.file('anchored.mjs')
let key: LedgerKey
let id: string
let line: string

beforeAll(async () => {
  key = await ledgerKey()
  const ledger = { origin: ORIGIN, signer: key.signer }
  const audit = new AuditLog({ store: sqliteStore({ filename: log }), types: {}, ledger })
  const event = (await audit.recordCustom('test:event', { n: 1 }))!
  await audit.recordCustom('test:event', { n: 2 })
  await audit.close()
  id = event.id
  const { created_at, username, system, type, source, attributes } = event
  line = JSON.stringify({ id, created_at, username, system, type, source, attributes })
  await new AuditLog({ store: sqliteStore({ filename: plain }), types: {} }).close()
  const { vkey } = key
  // The command loads the sources as a package of its own, so its signer is an object.
  fs.writeFileSync(
    config,
    `export default { types: {}, ledger: { origin: '${ORIGIN}', key: '${vkey}' } }\n`,
  )
  fs.writeFileSync(
    anchored,
    `const anchor = { name: 'bucket', publish() {}, latest() { throw new Error('no route') } }
     const anchors = [{ anchor, every: { days: 1 } }]
     export default { types: {}, ledger: { origin: '${ORIGIN}', key: '${vkey}', anchors } }\n`,
  )
})
afterAll(() => {
  temp.remove()
  key.remove()
})

it('checkpoint prints the head, and verify compares the log with it', async () => {
  const printed = await runCli(['checkpoint', log])
  expect([printed.exit, printed.stderr]).toEqual([0, ''])
  fs.writeFileSync(head, printed.stdout)
  const intact = await runCli(['verify', log, '--ledger', '--key', key.vkey, '--head', head])
  expect(intact).toEqual({
    exit: 0,
    stdout:
      '2 events and 3 leaves compared, 3 under a head from outside, 0 events wait\nintact: everything up to the head from outside is as it was sealed\n',
    stderr: '',
  })
  const alone = await runCli(['verify', log, '--ledger', '--config', config])
  expect(alone.exit).toBe(2)
  expect(alone.stdout).toContain('self-consistent: nothing is wrong, but without a head')
  const json = await runCli(['verify', log, '--ledger', '--config', config, '--json'])
  expect(JSON.parse(json.stdout)).toMatchObject({ result: 'self-consistent', findings: 0 })
})

it('prove prints a proof of an event', async () => {
  const { exit, stdout } = await runCli(['prove', log, id, '--key', key.vkey])
  expect(exit).toBe(0)
  const proved = checkProof({ proof: stdout, event: line, policy: key.vkey })
  expect(await proved).toMatchObject({ size: 3, index: 1 })
  const unknown = await runCli(['prove', log, id.replace(/.$/, '0'), '--key', key.vkey])
  expect([unknown.exit, unknown.stdout]).toEqual([1, ''])
})

const refused: readonly (readonly [name: string, args: () => string[], message: string])[] = [
  ['no key', () => ['verify', log, '--ledger'], 'needs the key of the ledger'],
  ['a head without --ledger', () => ['verify', log, '--head', head], 'only for verify --ledger'],
  ['an empty key', () => ['verify', log, '--ledger', '--key', ''], 'origin must be'],
  [
    'a key that is none',
    () => ['verify', log, '--ledger', '--key', 'a+b'],
    'must be a verifier key',
  ],
  [
    'a head that is missing',
    () => ['verify', log, '--ledger', '--key', key.vkey, '--head', temp.file('no.note')],
    'cannot read',
  ],
  [
    'a head that is none',
    () => ['verify', log, '--ledger', '--key', key.vkey, '--head', config],
    'heads[0] cannot be used',
  ],
  [
    'a time that is none',
    () => ['verify', log, '--ledger', '--key', key.vkey, '--since', 'monday'],
    'since must be a time',
  ],
  ['a log without a ledger', () => ['verify', plain, '--ledger', '--key', key.vkey], 'no ledger'],
  [
    'an anchor that fails',
    () => ['verify', log, '--ledger', '--config', anchored],
    'the log cannot be verified: the anchor bucket failed: no route',
  ],
  [
    'a file that is no log',
    () => ['verify', head, '--ledger', '--key', key.vkey],
    'the log cannot be verified: ',
  ],
  ['no head', () => ['checkpoint', plain], 'no signed head'],
  ['a proof without a ledger', () => ['prove', plain, id, '--key', key.vkey], ''],
]

it.each(refused)('%s ends with code 2', async (name, args, message) => {
  const { exit, stderr, stdout } = await runCli(args())
  expect([exit, stdout]).toEqual([name === 'a proof without a ledger' ? 1 : 2, ''])
  expect(stderr).toContain(message)
})

it('prove and checkpoint ask a service', async () => {
  const audit = new AuditLog({
    store: sqliteStore({ filename: log, readOnly: true }),
    types: {},
    ledger: { origin: ORIGIN, key: key.vkey },
  })
  const authenticate = basicAuth({ users: { ann: 'ann', bob: 'bob' } })
  const visible = ({ username }: { username?: string | null | undefined }) =>
    username === 'bob' ? { username_eq: 'bob' } : 'all'
  const routes = auditRoutes(audit, { visible })
  const { url, close } = await listen((request, response) =>
    authenticate(request, response, () => routes(request, response)),
  )
  try {
    const as = (user: string, ...args: readonly string[]) =>
      runCli(args, { env: { DAYBOOK_USER: user, DAYBOOK_PASSWORD: user } })
    expect((await as('ann', 'checkpoint', url)).stdout).toBe(
      (await runCli(['checkpoint', log])).stdout,
    )
    const { stdout, exit } = await as('ann', 'prove', url, id)
    expect(exit).toBe(0)
    expect(await checkProof({ proof: stdout, event: line, policy: key.vkey })).toBeDefined()
    expect(JSON.parse((await as('ann', 'prove', url, id, '--json')).stdout)).toEqual({
      proof: stdout,
    })
    const wrong: readonly (readonly [code: number, message: string, args: readonly string[]])[] = [
      [4, 'bob sees only a part of the log', ['bob', 'prove', url, id]],
      [4, 'bob sees only a part of the log', ['bob', 'checkpoint', url]],
      [1, 'there is no event', ['ann', 'prove', url, id.replace(/.$/, '0')]],
      [2, '.. is not an id', ['ann', 'prove', url, '..']],
      [2, '--key: the service', ['ann', 'prove', url, id, '--key', key.vkey]],
      [2, 'not on http', ['ann', 'verify', url, '--ledger', '--key', key.vkey]],
    ]
    for (const [code, message, [user, ...args]] of wrong)
      expect(await as(user!, ...args)).toMatchObject({
        exit: code,
        stdout: '',
        stderr: expect.stringContaining(message) as string,
      })
  } finally {
    await close()
    await audit.close()
  }
})

it('serve has the ledger of the key', async () => {
  const { address, origin, end } = await startServing([log, '--key', key.vkey])
  const cookie = await signIn(address)
  const proof = await send(`${origin}/api/events/${id}/proof`, { headers: { cookie } })
  expect(await checkProof({ proof: proof.body, event: line, policy: key.vkey })).toBeDefined()
  await end()
})

it('verify names a changed event, and ends with code 1', async () => {
  execute(log, (database) =>
    database.exec(`UPDATE daybook_events SET username = 'eve' WHERE created_at =
      (SELECT min(created_at) FROM daybook_events)`),
  )
  for (const heads of [[], ['--head', head]]) {
    const args = ['verify', log, '--ledger', '--key', key.vkey, ...heads]
    const { exit, stdout } = await runCli(args)
    expect(exit).toBe(1)
    expect(stdout).toMatch(/^changed: the event of \S+ cannot be read\n/)
    expect(stdout.endsWith('\ntampered\n')).toBe(true)
  }
})
