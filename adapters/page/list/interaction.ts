import { signal } from '@preact/signals'

/* What the reader does with the list: nothing moves under him meanwhile. */

/** Text of the list is selected. */
export const isSelecting = signal(false)

/** The pointer is on a row. */
export const isPointed = signal(false)

/** The first and last `created_at` on screen, oldest first; `undefined` while there is none. */
export const onScreen = signal<{ readonly from: string; readonly to: string } | undefined>(
  undefined,
)
