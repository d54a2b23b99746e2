import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'
import { AuditLog, AuditLogError, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { eventsEndpoint } from '../../src/http/events/endpoint.js'
import type { HttpRequest } from '../../src/http/exchange.js'
import { HttpProblem, JSON_API } from '../../src/http/problem.js'
import type { Campaign, CampaignRun } from './run.js'
import { words } from '../support/words.js'

/*
 * Tests the parser with mutated queries, and POST with a tenth as many mutated bodies. The parser must throw nothing
 * but `AuditLogError` and take at most 50 ms of processor time. POST must answer 201, or 4xx with errors.
 */

const MAX_MS = 50
const MAX_LENGTH = 70_000

const QUERIES = [
  'filter[type_eq]=api:changes:create&limit=10',
  'filter[name_or_code_cont_any][]=a&filter[name_or_code_cont_any][]=b&filter[m]=or',
  'filter[g][0][m]=or&filter[g][0][a_eq]=1&filter[g][1][c][0][a][]=b&filter[g][1][c][0][p]=in&filter[g][1][c][0][v][]=x',
  'filter[sorts][]=name+desc&filter[sorts][]=created_at&filter[s][0][name]=id&filter[s][0][dir]=asc',
  'filter[created_at_gteq]=2026-01-01T00:00:00.000000Z&filter[system_true]=1',
  'filter[text_matches]=%25a_b%25&filter[text_not_cont_all][]=%F0%9F%98%80&filter[n_lt]=1e3',
]

const BODIES = [
  '{"data":{"type":"Event","attributes":{"type":"deploy:note","text":"hello","n":1.5e3}}}',
  '{"data":{"type":"event","attributes":{"type":"x","project_path":"/projects/acme","list":[{"a":[1,null,true]}]}}}',
  '{"data":{"type":"Event","id":"1","attributes":{"type":"é😀","deep":{"a":{"b":{"c":"\\u0000\\ud800"}}}}},"meta":{}}',
]

const TOKENS = [
  ...[...words('[ ] [] [0] & = % %25 %F0 %00 +'), ' ', ',', '\\', '"', '{', '}', ':'],
  ...words('filter limit _or_ _and_ _eq _any _not_in m g c sorts -name'),
  ...[
    '__proto__',
    'constructor',
    '9'.repeat(400),
    '-0',
    '1e999',
    'null',
    'true',
    '\u0000',
    '\uD800',
    '😀',
    '\u{10FFFF}',
  ],
  ...[
    '2026-02-30',
    '0000-00-00T24:61:61Z',
    'a_'.repeat(100),
    '[g][0]'.repeat(12),
    '[[',
    '"data"',
    '"attributes"',
  ],
]

/** Numbers from 0 to 1 that a seed determines. */
export function random(seed: number): () => number {
  const generator = mersenne(seed)
  return () => uniformFloat64(generator)
}

/** A text of the corpus after some random changes. */
function mutate(corpus: readonly string[], next: () => number): string {
  const below = (n: number): number => Math.floor(next() * n)
  const pick = (from: readonly string[]): string => from[below(from.length)]!
  let text = pick(corpus)
  for (let changes = 1 + below(6); changes > 0; changes--) {
    const at = below(text.length + 1)
    const end = Math.min(text.length, at + below(12))
    const [before, part, after] = [text.slice(0, at), text.slice(at, end), text.slice(end)]
    const replacements = [
      '',
      pick(TOKENS),
      part + pick(TOKENS),
      part.repeat(2),
      String.fromCharCode(below(0x10000)),
      `${part}&${pick(corpus)}`,
      // Only few texts are long, so that most rounds are quick.
      (part || pick(TOKENS)).repeat(below(50) === 0 ? below(5000) : 1),
    ]
    text = `${before}${pick(replacements)}${after}`.slice(0, MAX_LENGTH)
  }
  return text
}

/** Milliseconds of processor time. */
function cpuTime(act: () => void): number {
  const start = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

interface QueryFigures {
  readonly queries: number
  readonly refused: number
  /** The longest time of a query, garbage collection included. */
  readonly slowest_ms: number
}

export function attackParser({ seed, from, rounds, failed }: CampaignRun): QueryFigures {
  let [refused, slowest_ms] = [0, 0]
  for (let round = from; round < rounds; round++) {
    const query = mutate(QUERIES, random(seed + round))
    const parse = (): void => {
      try {
        parseQuery(query)
      } catch (error) {
        refused += 1
        if (!(error instanceof AuditLogError))
          failed(`round ${round}: ${String(error)} for ${JSON.stringify(query.slice(0, 500))}`)
      }
    }
    let ms = cpuTime(parse)
    // Garbage collection may affect one of three calls, but hardly all three.
    for (let again = 0; again < 2 && ms > MAX_MS; again++) ms = Math.min(ms, cpuTime(parse))
    slowest_ms = Math.max(slowest_ms, ms)
    if (ms > MAX_MS) failed(`round ${round}: ${ms} ms for ${JSON.stringify(query.slice(0, 500))}`)
  }
  return { queries: rounds - from, refused, slowest_ms }
}

function post(text: string): HttpRequest<undefined> {
  const bytes = Buffer.from(text)
  return {
    method: 'POST',
    path: '/api/events',
    query: '',
    username: 'ann',
    context: undefined,
    signal: new AbortController().signal,
    header: (name) => (name === 'content-type' ? JSON_API : ''),
    body: (maxBytes) =>
      bytes.length > maxBytes
        ? Promise.reject(new HttpProblem('BODY_TOO_LARGE', 'too large'))
        : Promise.resolve(bytes),
  }
}

interface BodyFigures {
  readonly bodies: number
  readonly created: number
}

export async function attackPost({
  seed,
  from,
  rounds,
  failed,
}: CampaignRun): Promise<BodyFigures> {
  await using audit = new AuditLog({ store: memoryStore({ maxEvents: 100 }), types: {} })
  const endpoint = eventsEndpoint<undefined>(audit)
  let created = 0
  for (let round = from; round < rounds; round++) {
    const text = mutate(BODIES, random(seed + round))
    const { status, body } = await endpoint(post(text))!
    if (status === 201) created += 1
    else if (
      status < 400 ||
      status >= 500 ||
      typeof body !== 'string' ||
      !('errors' in JSON.parse(body))
    )
      failed(`round ${round}: ${status} for ${JSON.stringify(text.slice(0, 500))}`)
  }
  return { bodies: rounds - from, created }
}

export const campaign: Campaign = {
  rounds: 1_000_000,
  async run(options) {
    const bodies = { ...options, rounds: Math.ceil(options.rounds / 10) }
    return { ...attackParser(options), ...(await attackPost(bodies)) }
  },
}
