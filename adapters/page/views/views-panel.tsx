import { useEffect, useRef } from 'preact/hooks'
import { openManaged } from '../data/address.js'
import { loadViews, mayViews, views, viewsError } from '../data/views.js'
import { errorText } from '../list/load-failure.js'
import { useFocusReturn } from '../managing/use-focus-return.js'
import { useEscape } from '../ui/keyboard.js'
import { PanelTools } from '../ui/panel-tools.js'
import { texts } from '../ui/texts.js'
import { ShownNow } from './shown-now.js'
import { ViewList } from './view-list.js'
import { viewsTexts as words } from './views-texts.js'

const close = (): void => openManaged(undefined)

function LoadFailure() {
  if (!viewsError.value) return null
  return (
    <p class="managed-error" role="alert">
      {errorText(viewsError.value)}{' '}
      <button type="button" class="link" onClick={() => void loadViews()}>
        {texts.states.failed.again}
      </button>
    </p>
  )
}

/** The named views, beside the list of events. */
export function ViewsPanel() {
  const heading = useRef<HTMLHeadingElement>(null)
  useFocusReturn()
  useEscape(true, close)
  const mayList = mayViews('list')
  useEffect(() => {
    heading.current?.focus()
  }, [])
  useEffect(() => {
    if (mayList) void loadViews()
  }, [mayList])
  const isLoading = views.value === undefined
  return (
    <aside class="panel managed" aria-label={words.title} aria-busy={isLoading}>
      <PanelTools close={close} />
      <div class="panel-body" tabIndex={0} role="region" aria-label={words.title}>
        <h2 ref={heading} class="headline" tabIndex={-1}>
          {words.title}
        </h2>
        <LoadFailure />
        {isLoading && !viewsError.value && <p>{words.loading}</p>}
        {!isLoading && (
          <>
            <ShownNow />
            <ViewList />
          </>
        )}
      </div>
    </aside>
  )
}
