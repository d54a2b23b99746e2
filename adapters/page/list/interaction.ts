import { signal } from '@preact/signals'

/* What the user is doing with the list. New events wait while text is selected or a row is hovered. */

/** Whether text of the list is selected. */
export const isSelecting = signal(false)

/** Whether the pointer is on a row. */
export const isRowHovered = signal(false)

/** The oldest and newest `created_at` on screen; `undefined` if there is none. */
export const timesOnScreen = signal<{ readonly from: string; readonly to: string } | undefined>(
  undefined,
)
