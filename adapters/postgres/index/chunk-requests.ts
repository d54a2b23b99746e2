import type { Sql } from '../../../src/store-kit/sql.js'
import { TIMES_KIND } from '../../../src/store-kit/index/segment-source.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { readStoredChunk, type SummedChunk } from './checksums.js'

/** The lists of one name and kind in one segment. */
export interface Lists {
  readonly segment: number
  readonly name: number
  readonly kind: number
}

/** A place in the order of chunks: the bytes of a key in hexadecimal, and an ordinal. */
export interface Place {
  readonly first: string
  readonly ordinal: number
}

/** Places before and after all chunks: no key of a text has bytes ff, and no key of a number nine bytes. */
export const START: Place = { first: '', ordinal: -2 }
export const END: Place = { first: 'ff'.repeat(9), ordinal: 0 }

/** Places before and after all chunks whose first key is this one. */
export const before = (first: string): Place => ({ first, ordinal: -1 })
export const after = (first: string): Place => ({ first, ordinal: 2 ** 31 - 1 })

/** Up to `max` chunks in one direction. */
interface RunRequest {
  readonly lists: Lists
  readonly place: Place
  max: number
}

export interface Requests {
  /** The last chunks not after the place. */
  readonly down: RunRequest
  /** The first chunks after the place. */
  readonly up: RunRequest
  /** All chunks whose first key is this one. */
  readonly pieces: { readonly lists: Lists; readonly first: string }
  /** The numbers of the first and the last chunk. */
  readonly ends: { readonly lists: Lists }
  readonly numbers: { readonly lists: Lists; readonly from: number; readonly to: number }
  readonly times: { readonly segment: number; readonly block: number }
  /** The first times of all blocks; `digest` is their `eventsDigest`. */
  readonly firsts: { readonly segment: number; readonly blocks: number; readonly digest: number }
  /** The names after a number, which the segment needs. */
  readonly names: { readonly segment: number; readonly from: number }
}

export type Request = {
  readonly [By in keyof Requests]: Requests[By] & { readonly by: By }
}[keyof Requests]

/** The parameters of a request, in the order of its branch's columns. */
type Values = readonly (string | number)[]

interface Branch<Given> {
  /** The parameters' names and types. */
  readonly columns: readonly (readonly [name: string, type: string])[]
  readonly values: (given: Given) => Values
  /** Rows of `first`, `ordinal`, `vals`, `posts`, `number` and `checksum`, all as text. */
  readonly select: (names: Names) => string
}

const LISTS = [
  ['segment', 'bigint'],
  ['name', 'int'],
  ['kind', 'smallint'],
] as const
const PLACE = [...LISTS, ['first', 'text'], ['ordinal', 'int'], ['max_rows', 'int']] as const

// Base64 is the text format that is fastest to send and decode, despite its line ends.
const CHUNK = `encode(c.first, 'hex'), c.ordinal::text, c.vals, encode(c.posts, 'base64'),
  c.number::text, c.checksum::text`

const NAMES_AT_ONCE = 8192

const IN_LISTS = 'c.segment = r.segment AND c.name = r.name AND c.kind = r.kind'
const AT_PLACE = `(decode(r.first, 'hex'), r.ordinal)`

const listsValues = ({ segment, name, kind }: Lists): Values => [segment, name, kind]
const placeValues = ({ lists, place, max }: RunRequest): Values => [
  ...listsValues(lists),
  place.first,
  place.ordinal,
  max,
]

/** Each branch descends the index of keys, or of numbers, once. */
const BRANCHES: { readonly [By in keyof Requests]: Branch<Requests[By]> } = {
  down: {
    columns: PLACE,
    values: placeValues,
    select: ({ chunks }) => `SELECT ${CHUNK} FROM ${chunks} AS c
      WHERE ${IN_LISTS} AND (c.first, c.ordinal) <= ${AT_PLACE}
      ORDER BY c.first DESC, c.ordinal DESC LIMIT r.max_rows`,
  },
  up: {
    columns: PLACE,
    values: placeValues,
    select: ({ chunks }) => `SELECT ${CHUNK} FROM ${chunks} AS c
      WHERE ${IN_LISTS} AND (c.first, c.ordinal) > ${AT_PLACE}
      ORDER BY c.first, c.ordinal LIMIT r.max_rows`,
  },
  pieces: {
    columns: [...LISTS, ['first', 'text']],
    values: ({ lists, first }) => [...listsValues(lists), first],
    select: ({ chunks }) => `SELECT ${CHUNK} FROM ${chunks} AS c
      WHERE ${IN_LISTS} AND c.first = decode(r.first, 'hex') ORDER BY c.ordinal`,
  },
  ends: {
    columns: LISTS,
    values: ({ lists }) => listsValues(lists),
    select({ chunks }) {
      const end = (order: string): string => `(SELECT c.number FROM ${chunks} AS c
        WHERE ${IN_LISTS} ORDER BY c.first ${order}, c.ordinal ${order} LIMIT 1)::text`
      return `SELECT NULL, ${end('ASC')}, ${end('DESC')}, NULL, NULL, NULL`
    },
  },
  numbers: {
    columns: [
      ['segment', 'bigint'],
      ['low', 'int'],
      ['high', 'int'],
    ],
    values: ({ lists, from, to }) => [lists.segment, from, to],
    select: ({ chunks }) => `SELECT ${CHUNK} FROM ${chunks} AS c
      WHERE c.segment = r.segment AND c.number BETWEEN r.low AND r.high ORDER BY c.number`,
  },
  times: {
    columns: [
      ['segment', 'bigint'],
      ['number', 'int'],
    ],
    values: ({ segment, block }) => [segment, block],
    select: ({ chunks }) => `SELECT ${CHUNK} FROM ${chunks} AS c
      WHERE c.segment = r.segment AND c.number = r.number AND c.kind = ${TIMES_KIND}`,
  },
  firsts: {
    columns: [
      ['segment', 'bigint'],
      ['blocks', 'int'],
    ],
    values: ({ segment, blocks }) => [segment, blocks],
    select: ({ chunks }) => `SELECT NULL, NULL, NULL,
      encode(string_agg(c.first, ''::bytea ORDER BY c.number), 'base64'), NULL, NULL FROM ${chunks} AS c
      WHERE c.segment = r.segment AND c.number < r.blocks`,
  },
  names: {
    columns: [['low', 'int']],
    values: ({ from }) => [from],
    select: ({ attributeNames }) =>
      `SELECT NULL, NULL, c.name, NULL, c.id::text, c.checksum::text FROM ${attributeNames} AS c
      WHERE c.id > r.low ORDER BY c.id LIMIT ${NAMES_AT_ONCE}`,
  },
}

const valuesOf = (request: Request): Values => BRANCHES[request.by].values(request as never)

/** Identifies a request, apart from `max`, and from the segment that needs names. */
export const keyOf = (request: Request): string =>
  request.by === 'down' || request.by === 'up'
    ? [request.by, ...valuesOf({ ...request, max: 0 })].join(' ')
    : [request.by, ...valuesOf(request)].join(' ')

/** One statement for all requests. Each row begins with the index of its request. */
export function requestStatement(names: Names, requests: readonly Request[]): Sql {
  const params: unknown[] = []
  const param = (values: readonly unknown[], type: string): string =>
    `$${params.push(values)}::${type}[]`
  const parts = [...new Set(requests.map(({ by }) => by))].map((by) => {
    const places = [...requests.keys()].filter((i) => requests[i]!.by === by)
    const rows = places.map((i) => valuesOf(requests[i]!))
    const { columns, select } = BRANCHES[by]
    const given = [
      param(places, 'int'),
      ...columns.map(([, type], i) =>
        param(
          rows.map((row) => row[i]),
          type,
        ),
      ),
    ]
    const named = ['i', ...columns.map(([name]) => name)]
    return `(SELECT r.i::text, found.* FROM unnest(${given.join()}) AS r (${named.join()})
      CROSS JOIN LATERAL (${select(names)}) AS found (first, ordinal, vals, posts, number, checksum))`
  })
  return { text: parts.join(' UNION ALL '), params }
}

/** Throws `DamagedSegment` unless these are all rows of the lists, and intact. */
export function readChunkRow({ segment, name, kind }: Lists, row: TextRow): SummedChunk {
  const [, first, ordinal, vals, posts, number, checksum] = row
  const place = [number!, String(name), String(kind)] as const
  return readStoredChunk(segment, [...place, first!, ordinal!, vals!, posts!, checksum!])
}
