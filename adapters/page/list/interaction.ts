import { signal } from '@preact/signals'

/* Interaction of the user with the list. New events wait while text is selected or a row is hovered. */

/** True while text of the list is selected. */
export const isSelecting = signal(false)

/** True while the pointer is on a row. */
export const isRowHovered = signal(false)

/** The oldest and newest `created_at` on screen; `undefined` without rows. */
export const timesOnScreen = signal<{ readonly from: string; readonly to: string } | undefined>(
  undefined,
)
