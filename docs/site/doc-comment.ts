import {
  type DocCodeSpan,
  type DocComment,
  type DocErrorText,
  type DocEscapedText,
  type DocFencedCode,
  type DocLinkTag,
  type DocNode,
  DocNodeKind,
  type DocPlainText,
} from '@microsoft/tsdoc'

/* Makes Markdown of docstrings. */

/** The description, with `@remarks` after it. */
export function commentText(comment: DocComment): string {
  const parts = [comment.summarySection, comment.remarksBlock?.content].filter(
    (part) => part !== undefined,
  )
  return parts
    .map((part) => render(part).trim())
    .filter((text) => text !== '')
    .join('\n\n')
}

/** What a block such as `@default` says; `''` where there is none. */
export function blockText(comment: DocComment, tag: string): string {
  const block = comment.customBlocks.find(({ blockTag }) => blockTag.tagName === tag)
  return block ? render(block.content).trim() : ''
}

// Vue would read a `<` as a tag and `{{` as an expression.
const escape = (text: string): string =>
  text.replaceAll('<', '&lt;').replaceAll('{{', '&#123;&#123;')

function render(node: DocNode): string {
  switch (node.kind as DocNodeKind) {
    case DocNodeKind.PlainText:
      return escape((node as DocPlainText).text)
    case DocNodeKind.EscapedText:
      return escape((node as DocEscapedText).decodedText)
    case DocNodeKind.SoftBreak:
      return '\n'
    case DocNodeKind.CodeSpan:
      return `\`${(node as DocCodeSpan).code}\``
    case DocNodeKind.FencedCode:
      return `\n\n\`\`\`ts\n${(node as DocFencedCode).code}\`\`\`\n\n`
    case DocNodeKind.LinkTag:
      return linkText(node as DocLinkTag)
    case DocNodeKind.ErrorText:
      return escape((node as DocErrorText).text)
    case DocNodeKind.Excerpt:
    case DocNodeKind.BlockTag:
      return ''
    case DocNodeKind.Paragraph:
      return `${node.getChildNodes().map(render).join('').trim()}\n\n`
    default:
      return node.getChildNodes().map(render).join('')
  }
}

function linkText(link: DocLinkTag): string {
  if (link.urlDestination !== undefined)
    return `[${link.linkText ?? link.urlDestination}](${link.urlDestination})`
  const name = link.codeDestination?.memberReferences
    .map(({ memberIdentifier }) => memberIdentifier?.identifier ?? '')
    .join('.')
  return `\`${name ?? link.linkText ?? ''}\``
}
