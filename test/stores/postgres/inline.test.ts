import { expect, it } from 'vitest'
import { inlined } from '../../../adapters/postgres/read/inline.js'
import { sql } from '../../../src/store-kit/sql.js'
import { useSchemas } from '../../support/schemas.js'

const schemas = useSchemas('inline')

const TEXTS = [
  ...['', "it's", '"?"', '\\', "\\'; DROP TABLE x; --", '\n\t\r', '$1 ?', 'E\\u0041', '%_{}[],'],
  ...['é', 'Ω', '\u0001', '\u007F', '\uFFFF', '\u{10FFFF}', '😀 up', 'a'.repeat(1000)],
]

it.each(['on', 'off'])(
  'literals equal the parameters, standard_conforming_strings %s',
  async (mode) => {
    const client = await schemas.database().pool.connect()
    try {
      await client.query(`SET standard_conforming_strings = ${mode}`)
      const ask = async (query: string): Promise<unknown[]> => {
        const { rows } = await client.query({ text: query, rowMode: 'array' })
        return rows[0] as unknown[]
      }
      for (const text of TEXTS)
        expect(
          await ask(inlined(sql('SELECT ?::text, ? = ANY (?::text[])', text, text, [text]))!),
        ).toEqual([text, true])
      const all = sql('SELECT ?::text[], ?::text[], "a?".b FROM (SELECT 1 AS b) AS "a?"', TEXTS, [])
      expect(await ask(inlined(all)!)).toEqual([TEXTS, [], 1])
      const numbers = sql('SELECT ?::int[], -?::float8, ?::boolean', [1, -2], -1.5e-7, true)
      expect(await ask(inlined(numbers)!)).toEqual([[1, -2], 1.5e-7, true])
    } finally {
      client.release(true)
    }
  },
)

it.each([[null], ['\0'], ['\uD83D'], [['a', '\uDE00']], [[null]], [{}], ['a'.repeat(30_000)]])(
  'a value without a literal stays a parameter: %j',
  (param) => {
    expect(inlined(sql('SELECT ?', param))).toBeUndefined()
  },
)
