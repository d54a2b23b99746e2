import type { ComponentChild, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { texts } from './texts.js'
import { readAccount } from '../data/api.js'
import { showNote } from './notes.js'

/** A component whose code is loaded when it is first rendered; until then the placeholder is shown. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  instead: ComponentChild = null,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const [Component, show] = useState<{ it: ComponentType<Props> } | undefined>(
      loaded && { it: loaded },
    )
    useEffect(() => {
      if (Component) return
      const take = async (): Promise<void> => {
        loaded = await load()
        show({ it: loaded })
      }
      // The server has a newer build of the page, is unreachable, or takes the user for signed out, which `readAccount` finds.
      take().catch(() => {
        showNote(texts.common.reload)
        readAccount().catch(() => undefined)
      })
    }, [])
    return Component ? <Component.it {...props} /> : <>{instead}</>
  }
}
