//! Repair: records whose elements fit their sum are copied, all others are lost.

use container_core::container::OpenOptions;
use container_core::format::{Input, Output};
use container_core::report::{RepairItem, RepairReport};
use container_core::{Progress, Result};

use crate::container::Toy;
use crate::record::MAGIC;

/// Writes the records that are whole.
///
/// # Errors
/// Those of opening the file and of the output.
pub(crate) fn repair(
    input: Input,
    options: &OpenOptions,
    mut out: Option<&mut dyn Output>,
    _: Progress<'_>,
) -> Result<RepairReport> {
    let toy = Toy::new(input.into_source()?, options)?;
    let mut report = RepairReport::default();
    if let Some(out) = &mut out {
        out.write_all(MAGIC)?;
    }
    for record in &toy.records {
        if !record.is_whole(&toy.source)? {
            report.lost.push(RepairItem::new(record.range(), format!("{}: its sum differs", record.name)));
            continue;
        }
        report.kept.push(RepairItem::new(record.range(), record.name.clone()));
        if let Some(out) = &mut out {
            out.write_all(&toy.source.read(record.range())?)?;
        }
    }
    if let Some((at, error)) = &toy.fault {
        report.lost.push(RepairItem::new(*at..toy.source.len(), error.to_string()));
    }
    Ok(report)
}
