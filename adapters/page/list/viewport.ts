import { computed, signal } from '@preact/signals'

/* The part of the list that is in view. On a phone it scrolls with the whole document. */

/** Pixels of a row and of a day's heading; on a phone rows are measured instead. */
export const ROW_HEIGHT = 34
export const PHONE_ROW_HEIGHT = 66
export const PHONE_DAY_HEIGHT = 36

const phone = matchMedia('(max-width: 760px)')

export const isPhone = signal(phone.matches)

/** In pixels from where the rows begin; a guess until it is measured, so that rows need not wait for that. */
export const viewport = signal({ top: 0, height: innerHeight })

/** Less than that is no scrolling. */
const NUDGE = 4

export const isAtTop = computed(() => viewport.value.top <= NUDGE)

export function readViewport(rows: HTMLElement): void {
  const top = isPhone.value ? -rows.getBoundingClientRect().top : rows.scrollTop
  const height = isPhone.value ? innerHeight : rows.clientHeight
  const known = viewport.value
  if (known.top !== top || known.height !== height) viewport.value = { top, height }
}

export function scrollToTop(rows: HTMLElement): void {
  if (isPhone.value) scrollTo(0, 0)
  else rows.scrollTop = 0
  readViewport(rows)
}

export function scrollRowsBy(rows: HTMLElement, pixels: number): void {
  if (isPhone.value) scrollBy(0, pixels)
  else rows.scrollTop += pixels
  readViewport(rows)
}

/** Reads the viewport whenever it changes; gives what ends that. */
export function watchViewport(rows: HTMLElement, onChange: () => void): () => void {
  const read = (): void => {
    isPhone.value = phone.matches
    readViewport(rows)
    onChange()
  }
  const sizes = new ResizeObserver(read)
  sizes.observe(rows)
  rows.addEventListener('scroll', read, { passive: true })
  addEventListener('scroll', read, { passive: true })
  return () => {
    sizes.disconnect()
    rows.removeEventListener('scroll', read)
    removeEventListener('scroll', read)
  }
}
