import { computed, signal } from '@preact/signals'

const isInFront = signal(!document.hidden)

document.addEventListener('visibilitychange', () => {
  isInFront.value = !document.hidden
})

/**
 * True while a frame is in sight in the page around it. The browser reports nothing about a frame that is not
 * rendered.
 */
const isInSight = signal(parent === window)

if (parent !== window)
  new IntersectionObserver((entries) => {
    isInSight.value = entries.at(-1)!.isIntersecting
  }).observe(document.documentElement)

/** False while the window is minimized, its tab is in the background, or its frame is out of sight. */
export const isVisible = computed(() => isInFront.value && isInSight.value)
