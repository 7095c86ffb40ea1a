//! The least squares under the law, within its bounds.

use super::Usl;

/// One point: what has to be explained is N/X = b₀ + b₁ (N − 1) + b₂ N (N − 1), with b₀ = 1/γ, b₁ = σ/γ, b₂ = κ/γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) load: f64,
    pub(super) throughput: f64,
    pub(super) weight: f64,
}

impl Row {
    /// √w and (1, N − 1, N (N − 1)) in units of N/X: the squares that are summed are of relative errors.
    fn relative(&self) -> (f64, [f64; 3]) {
        let root = self.weight.sqrt();
        let unit = root * self.throughput / self.load;
        let others = self.load - 1.0;
        (root, [unit, unit * others, unit * self.load * others])
    }
}

/// The parameters of least Σ w (1 − X (b₀ + b₁ (N − 1) + b₂ N (N − 1))/N)² with b₀ > 0, 0 ≤ b₁ ≤ b₀ and b₂ ≥ 0, and
/// that sum.
///
/// The sum is convex and the bounds are linear, so the best is the best within one of the six combinations of bounds
/// that are met exactly; each is solved, and the best of those that keep the other bounds is taken. The last of them,
/// a proportional throughput, always does.
pub(super) fn solve(rows: &[Row]) -> (Usl, f64) {
    let mut best: Option<(Usl, f64)> = None;
    for contention in [Contention::Free, Contention::None, Contention::Full] {
        for coherent in [true, false] {
            let Some(b) = solve_within(rows, contention, coherent) else {
                continue;
            };
            if !(b[0] > 0.0 && b[1] >= 0.0 && b[1] <= b[0] && b[2] >= 0.0) {
                continue;
            }
            let sum = squares(rows, b);
            if best.is_none_or(|(_, least)| sum < least) {
                best = Some((Usl::of_fit(1.0 / b[0], b[1] / b[0], b[2] / b[0]), sum));
            }
        }
    }
    // Nothing is kept where sums have overflowed alone; then the first point says what one does.
    best.unwrap_or_else(|| {
        let single = rows.first().map_or(1.0, |row| row.throughput / row.load);
        (Usl::of_fit(single, 0.0, 0.0), f64::INFINITY)
    })
}

/// The bound on σ that is met exactly.
#[derive(Clone, Copy)]
enum Contention {
    Free,
    None,
    Full,
}

fn squares(rows: &[Row], b: [f64; 3]) -> f64 {
    rows.iter()
        .map(|row| {
            let (root, columns) = row.relative();
            let explained: f64 = columns.iter().zip(b).map(|(column, b)| column * b).sum();
            (root - explained).powi(2)
        })
        .sum()
}

fn solve_within(rows: &[Row], contention: Contention, coherent: bool) -> Option<[f64; 3]> {
    let columns = |row: &Row| {
        let (root, [one, others, pairs]) = row.relative();
        let first = match contention {
            Contention::Full => one + others,
            Contention::Free | Contention::None => one,
        };
        (root, first, others, pairs)
    };
    let mut design: Vec<Vec<f64>> = vec![rows.iter().map(|row| columns(row).1).collect()];
    if matches!(contention, Contention::Free) {
        design.push(rows.iter().map(|row| columns(row).2).collect());
    }
    if coherent {
        design.push(rows.iter().map(|row| columns(row).3).collect());
    }
    let target = rows.iter().map(|row| columns(row).0).collect();
    let mut found = orthogonal(design, target)?.into_iter();
    let first = found.next()?;
    let second = match contention {
        Contention::Free => found.next()?,
        Contention::None => 0.0,
        Contention::Full => first,
    };
    Some([first, second, if coherent { found.next()? } else { 0.0 }])
}

/// Least squares by the modified Gram–Schmidt process; `None` where the columns depend on each other.
fn orthogonal(mut columns: Vec<Vec<f64>>, mut target: Vec<f64>) -> Option<Vec<f64>> {
    let n = columns.len();
    let mut triangle = vec![vec![0.0; n]; n];
    let mut projections = vec![0.0; n];
    for i in 0..n {
        let (done, rest) = columns.split_at_mut(i + 1);
        let column = &mut done[i];
        let length = dot(column, column).sqrt();
        let before: f64 = (0..i).map(|j| triangle[j][i] * triangle[j][i]).sum();
        // What is left of the column has to be more than rounding.
        if !(length.is_finite() && length > 1e-12 * before.sqrt() && length > 0.0) {
            return None;
        }
        column.iter_mut().for_each(|value| *value /= length);
        triangle[i][i] = length;
        for (other, j) in rest.iter_mut().zip(i + 1..) {
            triangle[i][j] = take_off(column, other);
        }
        projections[i] = take_off(column, &mut target);
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| triangle[i][j] * projections[j]).sum();
        projections[i] = (projections[i] - known) / triangle[i][i];
    }
    Some(projections)
}

/// Takes the part along `unit` off `other`, and says how much it was.
fn take_off(unit: &[f64], other: &mut [f64]) -> f64 {
    let part = dot(unit, other);
    for (value, along) in other.iter_mut().zip(unit) {
        *value -= part * along;
    }
    part
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
