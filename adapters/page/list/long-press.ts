const HOLD_MS = 500

let timer: ReturnType<typeof setTimeout> | undefined
let wasHeld = false

/** Starts to wait for a finger that stays on a row. */
export function startPress(id: string): void {
  wasHeld = false
  timer = setTimeout(() => {
    wasHeld = true
    // The lifted finger would press the menu, which covers the row.
    addEventListener('touchend', (event) => event.preventDefault(), { once: true, passive: false })
    void import('./row-menu.js').then((late) => late.openRowMenu(id))
  }, HOLD_MS)
}

/** The finger was lifted, or scrolls. */
export const endPress = (): void => clearTimeout(timer)

/** True if the press that ends now has opened the menu. Then it must not also open the event. */
export const isLongPress = (): boolean => wasHeld
