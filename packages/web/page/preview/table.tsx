import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { t } from '../i18n/language.ts'
import { readTable } from './read-table.ts'

/** Comma-separated values as a table; its first row is the head. All cells are text. */
export function Table({ text }: { readonly text: string }): JSX.Element {
  const { rows, isCut } = useMemo(() => readTable(text), [text])
  const [head = [], ...others] = rows
  return (
    <>
      <table class="csv">
        <thead>
          <tr>
            {head.map((cell) => (
              <th scope="col">{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {others.map((row) => (
            <tr>
              {row.map((cell) => (
                <td class={/^-?[\d.,\s]+%?$/.test(cell) ? 'number' : undefined}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isCut && <p class="preview-note">{t('tableCut')}</p>}
    </>
  )
}
