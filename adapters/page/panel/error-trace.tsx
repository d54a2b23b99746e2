import { useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { texts } from '../ui/texts.js'
import { foldFrames, frameLines, isLibrary, reasonText } from './stack-frames.js'
import { Segments } from '../ui/segmented-control.js'

// An endless recursion has many identical frames.
const MAX_FRAMES = 500

/** The error of an event: the reason and the backtrace. */
export function ErrorTrace({ attributes }: Pick<AuditEvent, 'attributes'>) {
  const [isWhole, choose] = useState(false)
  const reason = reasonText(attributes['error'])
  const lines = frameLines(attributes['backtrace'])
  if (reason === undefined && lines.length === 0) return null
  const shown = lines.slice(0, MAX_FRAMES)
  return (
    <section class="section" aria-label={texts.panel.error}>
      <div class="section-head">
        <h2>{texts.panel.error}</h2>
        {lines.some(isLibrary) && (
          <Segments
            label={texts.panel.backtrace}
            names={[texts.panel.ownCode, texts.panel.allFrames(lines.length)]}
            chosen={isWhole ? 1 : 0}
            choose={(index) => choose(index === 1)}
          />
        )}
      </div>
      <div class="trace">
        {reason !== undefined && <p class="reason">{visibleText(reason)}</p>}
        {lines.length > 0 && (
          <ol>
            {(isWhole ? shown.map((text) => ({ text })) : foldFrames(shown)).map((frame, i) =>
              'text' in frame ? (
                <li
                  key={i}
                  class={isLibrary(frame.text) ? undefined : 'own'}
                  title={visibleText(frame.text)}
                >
                  {visibleText(frame.text)}
                </li>
              ) : (
                <li key={i}>{texts.panel.libraryFrames(frame.libraries)}</li>
              ),
            )}
            {lines.length > MAX_FRAMES && (
              <li>{texts.panel.moreFrames(lines.length - MAX_FRAMES)}</li>
            )}
          </ol>
        )}
      </div>
    </section>
  )
}
