import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { EventCounts } from 'daybook'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { type Child, runScript } from '../support/child.js'
import { hasCurl, startCommand } from '../support/curl.js'
import { blocksOf, docPages, root } from '../support/doc-pages.js'
import { listOf } from '../support/http.js'
import { tempDir } from '../support/temp.js'

/*
 * Runs the shell commands and scripts of the documentation against one demo. Only the port and the file differ.
 * Commands of npm, which install and start programs, are only checked.
 */
type Check = (output: string) => void

const typesOf = (output: string): unknown[] =>
  listOf({ body: output }).data.map(({ attributes }) => attributes['type'])

const makesProject =
  (code: string): Check =>
  (output) =>
    expect(JSON.parse(output)).toMatchObject({ data: { attributes: { code } } })

const listsTheRequest =
  (code: string, name: string): Check =>
  (output) =>
    expect(JSON.parse(output)).toMatchObject({
      data: [
        {
          attributes: {
            type: 'api:projects:create',
            username: 'ann',
            system: true,
            request_method: 'POST',
            request_path: '/api/projects',
            request_body: { code, name },
            response_status: 201,
          },
          relationships: { source: { links: { source: `/api/projects/${code}` } } },
        },
      ],
    })

/** The text with others in place of ids and numbers, which differ each time. */
const withoutNumbers = (text: string): string =>
  text
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/[\d,]*\d/g, '0')

/** Compares the output with a block of text on the page. */
const printsText =
  (page: string, index: number): Check =>
  (output) => {
    const found = docPages.find(({ file }) => file === page)!
    const { code } = blocksOf(found, 'text')[index]!
    expect(withoutNumbers(output)).toBe(withoutNumbers(code))
  }

/** The expected output of each block, by page and in its order. Pages run in the order of this table. */
const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  'README.md': [makesProject('shop'), listsTheRequest('shop', 'Web shop')],
  'docs/guide/tour.md': [
    (output) => expect(output).toMatch(/^{"status":"(pass|warn)"}$/),
    makesProject('tour'),
    listsTheRequest('tour', 'Guided tour'),
    (output) => expect(typesOf(output)).toContain('api:projects:create'),
    (output) => expect(typesOf(output)).toEqual(['api:changes:success']),
    (output) => expect(output).toMatch(/^a page of [1-9]\d*\n/),
    (output) => {
      const [response = '', list = ''] = output.split(/\n(?={)/)
      expect(response).toContain('201 Created')
      expect(response).toMatch(/location: \/api\/events\/[0-9a-f-]{36}/i)
      expect(JSON.parse(list)).toMatchObject({
        data: [
          {
            attributes: { type: 'tour:note', username: 'bob', system: false, text: 'went well' },
            relationships: { source: { links: { source: '/api/projects/tour' } } },
          },
        ],
      })
    },
    printsText('docs/guide/tour.md', 0),
    printsText('docs/guide/tour.md', 1),
    (output) => {
      const shown = docPages
        .filter(({ file }) => file === 'docs/guide/tour.md')
        .flatMap((page) => blocksOf(page, 'json'))
      expect(JSON.parse(output)).toEqual(JSON.parse(shown.at(-1)!.code))
    },
  ],
  'docs/guide/ledger.md': [
    (output) =>
      expect(output).toMatch(
        /^proved: event [0-9a-f-]{36} is leaf \d+ of \d+ of demo\.example\.com/,
      ),
  ],
  'docs/guide/clients.md': [
    (output) => {
      const [list = '', status] = output.split(/(?<=})(?=304\n$)/)
      expect(typesOf(list)).toContain('api:projects:create')
      expect(status).toBe('304\n')
    },
  ],
  'docs/guide/audit-page.md': [
    (output) => {
      const [, digest] = /^"sha256":"([0-9a-f]{64})"\n/.exec(output)!
      expect(output.split('\n')[1]).toBe(`${digest}  -`)
      expect(digest).not.toBe(createHash('sha256').digest('hex'))
    },
  ],
  'docs/guide/count-events.md': [
    (output) => {
      const { meta } = JSON.parse(output) as { meta: EventCounts }
      expect(meta.total).toBeGreaterThan(0)
      expect(meta.buckets).toMatchObject({ zone: 'Europe/Berlin' })
      expect(meta.facets['username']!.values.map(({ value }) => value)).toContain('ann')
    },
  ],
  'docs/guide/follow.md': [
    (output) => expect(output).toContain('"type":"api:changes:create"'),
    (output) => expect(new Set(typesOf(output))).toEqual(new Set(['api:steps:success'])),
  ],
  'docs/guide/lists.md': [
    (output) =>
      expect(JSON.parse(output)).toMatchObject({ data: [{ attributes: { code: 'tour' } }] }),
  ],
  'docs/reference/http.md': [
    (output) => expect(output).toContain('"links":{"self":{"href":"/api/events/search",'),
    (output) => expect(output).toContain('"by":["type","username"],"groups":[{"values":["'),
    (output) => {
      expect(output).toMatch(/^created_at,type,username,.*,name,url_params_project_code$/m)
      expect(output).toMatch(/^x-total-count: [1-9]/im)
    },
    (output) => expect(JSON.parse(output).meta).toMatchObject({ restricted: false }),
  ],
  'docs/guide/import.md': [
    (output) => expect(output).toContain(': 5 events'),
    (output) => {
      const answers = output.trim().split(/\n?(?={"jsonapi")/)
      const [pedro, sorted, tagged] = answers.map((text) => listOf({ body: text }).data)
      expect(pedro!.map(({ attributes }) => attributes['type'])).toEqual([
        'RunInstances',
        'DescribeInstances',
      ])
      expect(pedro![0]!.attributes).toMatchObject({
        username: 'pedro',
        system: false,
        userIdentity: { userName: 'pedro' },
        occurred_at: '2024-02-29T07:15:00.000000Z',
      })
      // Events without the attribute come last.
      const names = sorted!.map(({ attributes }) => attributes['eventName']).slice(0, 5)
      expect(names).toEqual(names.map(String).toSorted())
      expect(tagged!.map(({ attributes }) => attributes['type'])).toEqual(['DescribeInstances'])
    },
    (output) => expect(output).toContain(': 103 events'),
    (output) => expect(output).toMatch(/^events\.ndjson: \d+ events in /),
  ],
  'docs/guide/manage-subscriptions.md': [
    (output) =>
      expect(JSON.parse(output)).toMatchObject({
        data: [],
        links: { self: expect.stringMatching(/^\/api\/subscriptions\?/) },
      }),
    (output) => {
      const answers = output.trim().split(/\n?(?={"jsonapi")/)
      const [channel, subscription, list] = answers.map((text) => JSON.parse(text) as unknown)
      expect(channel).toMatchObject({
        data: { attributes: { name: 'siem', kind: 'webhook', enabled: true } },
        meta: { secret: expect.stringMatching(/^whsec_/) },
      })
      const errors = { name: 'errors', channel: 'siem', owner: 'ann' }
      expect(subscription).toMatchObject({ data: { attributes: errors } })
      expect(list).toMatchObject({ data: [{ attributes: errors }] })
    },
  ],
}

const ENVIRONMENT = /^(?:[A-Z_]+=\S+ )*/
const isNpm = (code: string): boolean =>
  code
    .trim()
    .split(/\n| && /)
    .every((command) => command.replace(ENVIRONMENT, '').startsWith('npm '))

const shellBlocks = docPages.flatMap((page) =>
  blocksOf(page, 'sh').map((block) => ({ file: page.file, ...block })),
)
const commands = shellBlocks.filter(({ code }) => !isNpm(code))
const npmCommands = shellBlocks
  .filter(({ code }) => isNpm(code))
  .flatMap(({ file, code }) =>
    code
      .trim()
      .split(/\n| && /)
      .map((command) => [file, command.replace(ENVIRONMENT, '')] as const),
  )

it('every page with shell commands has checks for them', () => {
  const counts: Record<string, number> = {}
  for (const { file } of commands) counts[file] = (counts[file] ?? 0) + 1
  expect(counts).toEqual(
    Object.fromEntries(Object.entries(CHECKS).map(([file, checks]) => [file, checks.length])),
  )
})

it.each(npmCommands)('%s: %s can be run', (_file, command) => {
  const [, verb, ...names] = command.split(' ')
  if (verb === 'install') {
    const packages = ['daybook', ...Object.keys(manifest.peerDependencies)]
    expect(packages).toEqual(expect.arrayContaining(names))
  } else {
    const script = verb === 'run' ? names[0]! : verb!
    expect(manifest.scripts).toHaveProperty(script)
  }
})

const execute = promisify(execFile)

describe.skipIf(!hasCurl)('the commands of the documentation', () => {
  const temp = tempDir()
  let demo: Child
  let url: string

  /** The code with the demo's address and file in place of the documented ones. */
  const atDemo = (code: string): string =>
    code
      .replaceAll('http://localhost:3000', url)
      .replaceAll('npx daybook', `node ${inject('compiledFolder')}/adapters/cli/main.js`)
      .replaceAll(
        /\b(?:(?:changed|copy|daybook)\.db|daybook-ledger|events?\.ndjson|event\.tlog-proof|head\.txt)\b/g,
        (name) => temp.file(name),
      )
      .replaceAll('trail.db', temp.file('daybook.db'))
      .replaceAll('records.ndjson', 'test/fixtures/cloud-trail.ndjson')
      .replaceAll(
        'cloudtrail.ndjson.gz',
        'test/fixtures/security-datasets/aws-cloudtrail.ndjson.gz',
      )

  async function runBlock(code: string): Promise<string> {
    const script = atDemo(code)
    // Standard input is a socket, with which Bash reads its start-up files unless another shell started it.
    const options = ['--norc', '-euo', 'pipefail', '-c', script]
    const { stdout, stderr } = await execute('bash', options, { cwd: root })
    expect(stderr.replaceAll(/^npm warn .*\n?/gm, '')).toBe('')
    return stdout.replaceAll('\r\n', '\n')
  }

  /** The output of complete counts. On a busy machine, counts may end after two seconds. */
  async function runCounts(code: string): Promise<string> {
    for (;;) {
      const output = await runBlock(code)
      const { meta } = JSON.parse(output) as { meta: EventCounts }
      const isComplete = [meta.exact.total, ...Object.values(meta.facets).map(({ exact }) => exact)]
      if (isComplete.every(Boolean)) return output
    }
  }

  /** The output of a stream until it has sent a change that is made during the stream. */
  async function runStream(code: string): Promise<string> {
    const stream = startCommand('bash', ['--norc', '-c', `exec ${atDemo(code)}`])
    try {
      await stream.saw('retry: ')
      await runBlock(commands.find((block) => block.code.startsWith('AFTER='))!.code)
      return await stream.saw('"type":"api:changes:create"')
    } finally {
      await stream.stop()
    }
  }

  /** Runners by parts of the commands. */
  const runners = [
    ['/stream', runStream],
    ['/counts?', runCounts],
  ] as const

  beforeAll(async () => {
    demo = runScript('examples/workflow-service/main.ts', [], {
      PORT: '0',
      DAYBOOK_STORE: `sqlite:${temp.file('daybook.db')}`,
      DAYBOOK_TRAFFIC: 'off',
    })
    await demo.saw('\n')
    url = /http:\/\/\S+/.exec(demo.stdout())![0]
  })
  afterAll(async () => {
    await demo.kill('SIGTERM')
    temp.remove()
  })

  it('run against a demo on its documented port', () => {
    expect(demo.stdout()).toMatch(new RegExp(`^workflow service at ${url}\n`))
  })

  it.each(Object.entries(CHECKS))('%s', async (file, checks) => {
    const blocks = commands.filter((block) => block.file === file)
    for (const [i, { code }] of blocks.entries()) {
      const run = runners.find(([part]) => code.includes(part))?.[1] ?? runBlock
      checks[i]!(await run(code))
    }
  })

  const scripts = docPages.flatMap((page) =>
    blocksOf(page, 'js').map(({ code, line }) => [`${page.file}, line ${line}`, code] as const),
  )
  it.each(scripts)('%s', async (_place, code) => {
    const modules = temp.file('node_modules')
    if (!fs.existsSync(modules)) fs.symlinkSync(path.join(root, 'node_modules'), modules)
    const file = temp.file('script.mjs')
    fs.writeFileSync(file, atDemo(code))
    const { stdout } = await execute(process.execPath, [file])
    expect(Number(stdout.trim().split('\n').at(-1))).toBeGreaterThan(0)
  })
})
