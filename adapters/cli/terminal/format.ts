/* Numbers as people read them. */

const UNITS: readonly (readonly [milliseconds: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
]

/** `3 min`, `12 d`: in the largest unit with a number of at least 1. */
export function durationText(milliseconds: number): string {
  const unit = UNITS.find(([length]) => milliseconds >= length)
  return unit
    ? `${Math.floor(milliseconds / unit[0])} ${unit[1]}`
    : `${Math.round(milliseconds)} ms`
}

const SIZES = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB']

/** `1.4 GiB`. */
export function sizeText(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1024 && unit < SIZES.length - 1) {
    size /= 1024
    unit++
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${SIZES[unit]}`
}

/** `12.3`: millions of bytes. */
export const megabytesText = (bytes: number): string => (bytes / 1e6).toFixed(1)

/** `1,234,567`. */
export const numberText = (number: number): string => number.toLocaleString('en')

/** `1 event`, `12,000 events`. */
export const counted = (count: number, noun: string): string =>
  `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`
