import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { commands } from '../../adapters/cli/commands.js'
import { tempDir } from '../support/temp.js'
import { type CliOptions, runCli } from './run-cli.js'

/*
 * The whole output of the commands on a log of eight events: on a terminal, in a pipe, and with --json. The expected
 * texts are in test/fixtures/cli; `npx vitest run test/cli/golden.test.ts -u` replaces them.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const fixture = (name: string): string => path.join(root, 'test/fixtures/cli', `${name}.txt`)
const EVENT = '01a19b7e-f638-7126-a006-cb0f5397d81c'
const CONFIG = `export default {
  cleaning: { rules: [{ name: 'orders', target: 'events', filter: 'filter[type_start]=api:', maxRows: 2, every: { days: 1 } }] },
  subscriptions: {
    channels: { search: { deliver() {} } },
  },
}
`

const temp = tempDir()
const log = temp.file('audit.db')
const subscribed = temp.file('subscribed.db')
const config = temp.file('config.mjs')
const events = temp.file('shop.ndjson')

beforeAll(async () => {
  vi.stubEnv('TZ', 'America/St_Johns')
  fs.writeFileSync(config, CONFIG)
  fs.copyFileSync(path.join(root, 'examples/command-line/shop.ndjson'), events)
  await runCli(['import', log, events])
  const audit = new AuditLog({
    store: sqliteStore({ filename: subscribed }),
    types: {},
    subscriptions: { deliver: false, channels: { search: { deliver: () => {} } } },
  })
  // Nothing waits for it.
  const from = '2030-01-01T00:00:00.000000Z'
  await audit.subscriptions.create({ name: 'errors', channel: 'search', from })
  await audit.close()
})
afterAll(() => {
  vi.unstubAllEnvs()
  temp.remove()
})

/** Texts that differ between runs and machines. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  // Progress is shown after a second.
  [/\r\\e\[2K[^\r\n]*/g, ''],
  [/\bin \d+\.\d s\b/g, 'in 0.0 s'],
  [/^((?:size|free)\s+)\d.*/gm, '$10'],
  [/("(?:size|free)_bytes":)\d+/g, '$10'],
  // The ids of subscriptions.
  [
    /[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g,
    '00000000-0000-4000-8000-000000000000',
  ],
  [/("(?:seconds|lag_ms|responseMs)":)[\d.e-]+/g, '$10'],
]

const MODES: Readonly<Record<string, CliOptions & { readonly flags?: readonly string[] }>> = {
  terminal: { terminal: { columns: 100 } },
  pipe: {},
  '--json': { flags: ['--json'] },
}

async function printed(
  args: readonly string[],
  { flags = [], ...options }: CliOptions & { readonly flags?: readonly string[] },
): Promise<string> {
  // Ctrl-C after three events.
  const interrupted = args[0] === 'tail' ? { interruptAfter: 3 } : {}
  const { exit, stdout, stderr } = await runCli([...args, ...flags], { ...options, ...interrupted })
  const text = stdout + stderr + (exit === 0 ? '' : `[exit code ${exit}]\n`)
  return VARYING.reduce(
    (before, [pattern, constant]) => before.replaceAll(pattern, constant),
    text.replaceAll(`${temp.dir}/`, '').replaceAll('\u001B', '\\e'),
  )
}

/** The output of the commands in each mode. */
async function sessionOf(lines: readonly (readonly string[])[]): Promise<string> {
  const parts: string[] = []
  for (const [mode, options] of Object.entries(MODES)) {
    parts.push(`# ${mode}\n\n`)
    for (const args of lines) {
      const shown = args.map((arg) => (arg.startsWith(temp.dir) ? path.basename(arg) : arg))
      parts.push(`$ daybook ${shown.join(' ')}\n${await printed(args, options)}\n`)
    }
  }
  return parts.join('')
}

const missing = EVENT.replace(/.{4}$/, '0000')

/** The command lines of each file. The log is the same for all of them. */
const SESSIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  list: [
    ['list', log],
    ['list', log, '--utc', '--limit', '2'],
    ['list', log, '--fields', 'created_at,type,order_id', '-f', 'type_start=api:'],
    ['list', log, '-f', 'username_eq=nobody'],
    ['list', log, '-f', 'username_con=ann'],
  ],
  get: [
    ['get', log, EVENT],
    ['get', log, EVENT, '--utc'],
    ['get', log, missing],
    ['get', log, 'seven'],
  ],
  count: [
    ['count', log],
    ['count', log, '--by', 'level'],
    ['count', log, '-f', 'username_eq=nobody', '--by', 'type'],
  ],
  tail: [
    ['tail', log, '--since', '2026-11-02T09:05:00Z', '--level', 'api'],
    ['tail', log, '--after', '2026-11-02T09:05:20.310585Z', '--fields', 'type,level'],
    ['tail', log, '--since', 'noon'],
    ['tail', log, '--level', 'eror'],
    ['tail', log, 'filter[sorts][]=name'],
  ],
  export: [
    ['export', log, '-f', 'username_eq=bob'],
    ['export', log, '--format', 'csv', '--columns', 'order_id'],
    ['export', log, '--format', 'cloudevents', '-f', 'username_eq=bob', '--service', 'shop'],
    ['export', log, '--format', 'ocsf', '-f', 'username_eq=bob'],
    ['export', log, '--format', 'otlp', '-f', 'username_eq=bob'],
    ['export', log, '--resume'],
  ],
  import: [
    ['import', log, events],
    ['import', temp.file('new.db'), events, '--dry-run'],
    ['import', log, temp.file('none.ndjson')],
  ],
  subscriptions: [
    ['subscriptions', 'list', subscribed],
    ['subscriptions', 'parked', subscribed, 'errors'],
    ['subscriptions', 'pause', subscribed, 'eror'],
    ['subscriptions', 'discard', subscribed, 'errors', '--all'],
    ['subscriptions', 'redrive', subscribed, 'errors'],
  ],
  clean: [
    ['clean', log],
    ['clean', log, '--config', config],
    ['clean', log, '--config', config, '--rule', 'ordrs'],
  ],
  verify: [['verify', log]],
  migrate: [
    ['migrate', log],
    ['migrate', log, '--dry-run'],
  ],
  rebuild: [['rebuild', log]],
  stats: [['stats', log]],
  errors: [
    ['lst', log],
    ['list', temp.file('none.db')],
    ['list', log, '--limitt', '5'],
    ['list'],
    ['verify', 'http://127.0.0.1:1/'],
    ['list', 'ftp://localhost/'],
    ['list', 'http://127.0.0.1:1/'],
    ['list', log, '--config', temp.file('none.mjs')],
    ['list', log, '--limit', '1001'],
    ['list', log, '--schema', 'public'],
    ['get', log],
    ['get', log, EVENT, 'more'],
  ],
}

describe('the output of commands', () => {
  it.each(Object.entries(SESSIONS))('%s is as expected', async (name, lines) => {
    await expect(await sessionOf(lines)).toMatchFileSnapshot(fixture(name))
  })

  it.each<readonly [string, boolean, CliOptions]>([
    ['on a terminal', true, { terminal: { columns: 80 } }],
    ['on a terminal with NO_COLOR', false, { terminal: { columns: 80 }, env: { NO_COLOR: '1' } }],
    ['on a dumb terminal', false, { terminal: { columns: 80 }, env: { TERM: 'dumb' } }],
    ['with FORCE_COLOR=0', false, { terminal: { columns: 80 }, env: { FORCE_COLOR: '0' } }],
    ['with NO_COLOR and FORCE_COLOR', true, { env: { NO_COLOR: '1', FORCE_COLOR: '1' } }],
    ['with an empty NO_COLOR', true, { terminal: { columns: 80 }, env: { NO_COLOR: '' } }],
    ['in a pipe', false, {}],
    ['in a pipe with FORCE_COLOR', true, { env: { FORCE_COLOR: '1' } }],
  ])('has colours as asked: %s', async (_name, isColoured, options) => {
    const { stderr } = await runCli(['lst'], options)
    expect(stderr.includes('\u001B[31merror\u001B[39m')).toBe(isColoured)
    const { stdout } = await runCli(['verify', log, '--json'], options)
    expect(stdout).not.toContain('\u001B')
  })
})

describe('the help', () => {
  it.each<readonly [string, string, readonly string[]]>([
    ['of the program', 'help', ['--help']],
    ['of subscriptions', 'help-subscriptions', ['subscriptions', '--help']],
    ...commands.map(
      ({ name }) =>
        [`of ${name}`, `help-${name.replace(' ', '-')}`, [...name.split(' '), '--help']] as const,
    ),
  ])('%s is as expected', async (_name, file, args) => {
    const { exit, stdout, stderr } = await runCli(args, { terminal: { columns: 80 } })
    expect([exit, stderr]).toEqual([0, ''])
    await expect(stdout).toMatchFileSnapshot(fixture(file))
  })

  it('has the version of the package', async () => {
    for (const flag of ['--version', '-V'])
      expect(await runCli([flag])).toEqual({
        exit: 0,
        stdout: `${packageJson.version}\n`,
        stderr: '',
      })
  })
})
