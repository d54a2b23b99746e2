import type { Phrase } from '../data/phrases.js'

function Shown({ kind, text }: Phrase) {
  switch (kind) {
    case 'attribute':
      return <bdi>{text}</bdi>
    case 'value':
      return (
        <b>
          <bdi>{text}</bdi>
        </b>
      )
    case 'predicate':
      return <span class="pred">{text}</span>
    case 'join':
      return <span class="join">{text}</span>
  }
}

/** A filter in plain words, with its parts styled. */
export function Phrases({ of }: { of: readonly Phrase[] }) {
  return (
    <>
      {of.map((phrase, index) => (
        <>
          {index > 0 && !phrase.text.startsWith(',') && ' '}
          <Shown {...phrase} />
        </>
      ))}
    </>
  )
}
