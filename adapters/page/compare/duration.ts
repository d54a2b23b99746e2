import { language } from '../data/language.js'

const STEPS = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
] as const

const format = (value: number, unit: string): string =>
  new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    unitDisplay: 'long',
    maximumFractionDigits: 0,
  }).format(value)

/** The two largest units of a duration: `2 minutes, 5 seconds`. */
export function durationText(milliseconds: number): string {
  const at = STEPS.findIndex(([size]) => milliseconds >= size)
  if (at < 0) return format(milliseconds, 'millisecond')
  const [size, unit] = STEPS[at]!
  const [smaller, part] = STEPS[at + 1] ?? [1, 'millisecond']
  const rest = Math.floor((milliseconds % size) / smaller)
  const texts = [format(Math.floor(milliseconds / size), unit)]
  if (rest > 0) texts.push(format(rest, part))
  return texts.join(', ')
}
