import type { Level } from '../../../src/event/level.js'
import { levelOf } from '../../../src/event/level.js'

/** A 16 px icon from the sprite in the document. Decorative: a text beside it has the meaning. */
export function Icon({ name, className = 'ico' }: { name: string; className?: string }) {
  return (
    <svg class={className} aria-hidden="true">
      <use href={`#${name}`} />
    </svg>
  )
}

/** The icon of a level. */
export function Mark({ level }: { level: Level | 'denied' }) {
  return <Icon name={`m-${level}`} className="mark" />
}

/** The icon of an event type. Denied actions have a separate icon. */
export const markOf = (type: string): Level | 'denied' =>
  type.endsWith(':denied') ? 'denied' : levelOf(type)
