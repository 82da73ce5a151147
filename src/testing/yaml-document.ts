// YAML with the short forms of CloudFormation: `!Ref Stage` becomes { Ref: 'Stage' }, `!Sub ...` { 'Fn::Sub': ... }.
//
// The package `yaml` is an optional peer (docs/adr/0028): templates and seeds in JSON need none.
import type * as Yaml from 'yaml'
import { TemplateError } from './template-error.js'

/** Short forms that are not written `Fn::` in the long one. */
const LONG_FORMS: ReadonlyMap<string, string> = new Map([
  ['!Ref', 'Ref'],
  ['!Condition', 'Condition'],
])

export type ParseYaml = (text: string) => unknown

/** Loads the package. It is loaded once and read without waiting afterwards, as includes need it. */
export async function yamlParser(): Promise<ParseYaml> {
  const yaml = await import('yaml').catch((error: unknown) => {
    throw new TemplateError('reading YAML needs the package yaml: npm install --save-dev yaml', {
      cause: error,
    })
  })
  return (text) => parseWith(yaml, text)
}

function parseWith(
  { isNode, Pair, parseDocument, Scalar, visit, YAMLMap }: typeof Yaml,
  text: string,
): unknown {
  // Tags that the package does not know are warnings, which is what the short forms are.
  const document = parseDocument(text, { merge: true })
  const [error] = document.errors
  if (error !== undefined) throw new TemplateError(error.message.trim())
  visit(document, {
    Node: (_, node) => {
      if (!isNode(node) || !('tag' in node) || !node.tag?.startsWith('!')) return undefined
      const map = new YAMLMap()
      map.items.push(new Pair(new Scalar(LONG_FORMS.get(node.tag) ?? `Fn::${node.tag.slice(1)}`), node))
      delete node.tag
      // An alias stands for the function, not for its argument.
      if ('anchor' in node && node.anchor !== undefined) {
        map.anchor = node.anchor
        delete node.anchor
      }
      return map
    },
  })
  return document.toJS() as unknown
}
