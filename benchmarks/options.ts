import { parseArgs } from 'node:util'

/** How long to measure, as the command line says or by default, and whether to write it into README.md. */
export function readOptions(defaults: { readonly rounds: number; readonly seconds: number }): {
  rounds: number
  seconds: number
  write: boolean
} {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: String(defaults.rounds) },
      seconds: { type: 'string', default: String(defaults.seconds) },
      write: { type: 'boolean', default: false },
    },
  })
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
  if (!Number.isInteger(rounds) || rounds < 1 || !(seconds > 0))
    throw new Error('--rounds must be a whole number from 1, --seconds a number above 0')
  return { rounds, seconds, write: values.write }
}
