import { computed, signal } from '@preact/signals'

/* The visible part of the list. On phones the whole document scrolls. */

/** Heights in pixels of rows and day headings. The phone row height is an estimate until measured. */
export const ROW_HEIGHT = 34
export const PHONE_ROW_HEIGHT = 66
export const PHONE_DAY_HEIGHT = 36

const phone = matchMedia('(max-width: 760px)')

export const isPhone = signal(phone.matches)

/** Height in pixels from the top of the rows. A guess until measured, so that the first rows render at once. */
export const viewport = signal({ top: 0, height: innerHeight })

/** Smaller scroll offsets count as the top. */
const TOP_TOLERANCE = 4

export const isAtTop = computed(() => viewport.value.top <= TOP_TOLERANCE)

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

/** Updates the viewport on scrolling and resizing. Returns a function that ends this. */
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
