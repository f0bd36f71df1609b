// Geometry pass: which triangle is visible at each pixel.
#include <cmath>

#include "raster.h"

namespace {

constexpr int ATTRIBUTES = 8;  // of a corner: place in the image times depth, depth, normal, texture

// The five planes that bound what a camera sees, in the frame of a link.
struct Frustum {
    float plane[5][4], length[5];

    Frustum(const float* m, const Camera& camera) {
        for (int i = 0; i < 4; ++i) {
            plane[0][i] = m[i];
            plane[1][i] = (camera.width - 1) * m[8 + i] - m[i];
            plane[2][i] = m[4 + i];
            plane[3][i] = (camera.height - 1) * m[8 + i] - m[4 + i];
            plane[4][i] = m[8 + i];
        }
        plane[4][3] -= camera.near;
        for (int i = 0; i < 5; ++i) {
            const float* p = plane[i];
            length[i] = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        }
    }

    bool sees(const Sphere& s) const {
        for (int i = 0; i < 5; ++i) {
            const float* p = plane[i];
            if (p[0] * s.x + p[1] * s.y + p[2] * s.z + p[3] < -(s.radius + 1e-4f) * length[i]) return false;
        }
        return true;
    }
};

// World to image: rows (column times depth, row times depth, depth).
void image_matrix(const Camera& camera, const float* world, float* m) {
    for (int row = 0; row < 3; ++row) {
        for (int i = 0; i < 3; ++i) m[row * 4 + i] = world[i * 4 + row];
        m[row * 4 + 3] = -(world[row] * world[3] + world[4 + row] * world[7] + world[8 + row] * world[11]);
    }
    for (int i = 0; i < 4; ++i) {
        m[i] = m[i] * camera.focal + m[8 + i] * camera.center_x;
        m[4 + i] = m[4 + i] * camera.focal + m[8 + i] * camera.center_y;
    }
}

// 1 / depth as a linear function of the pixel, from three corners (place times depth, depth): rows
// of the inverse matrix, by cross products.
bool depth_plane(const float corner[3][ATTRIBUTES], Plane& plane) {
    double sum[3] = {0, 0, 0}, determinant = 0;
    for (int i = 0; i < 3; ++i) {
        const float *a = corner[(i + 1) % 3], *b = corner[(i + 2) % 3];
        double cross[3] = {(double)a[1] * b[2] - (double)a[2] * b[1], (double)a[2] * b[0] - (double)a[0] * b[2],
                           (double)a[0] * b[1] - (double)a[1] * b[0]};
        for (int k = 0; k < 3; ++k) sum[k] += cross[k];
        if (i == 0)
            determinant = corner[0][0] * cross[0] + corner[0][1] * cross[1] + corner[0][2] * cross[2];
    }
    if (determinant == 0) return false;
    plane = {sum[0] / determinant, sum[1] / determinant, sum[2] / determinant};
    return true;
}

// Draw a triangle. Returns whether it is visible at a pixel, and then fills `record` except for the
// numbers of its corners. `plane` is given if the near plane has cut it.
INLINE bool draw_triangle(const Renderer& r, View& view, int part_index, int triangle, const Corner (&corner)[3],
                          const Plane* plane, Triangle& record) {
    const Camera& camera = view.camera;
    if (!scan<true>(corner[0], corner[1], corner[2], camera.width, camera.height, view.stride, view.q.data(),
                    view.triangle.data(), (uint32_t)view.triangles.size(), r.ramp.data(),
                    !r.scene.part[part_index].double_sided, &record, plane))
        return false;
    record.part = part_index, record.plane = r.plane[triangle], record.clipped = plane != nullptr;
    for (int k = 0; k < 3; ++k) record.corner_q[k] = corner[k].q;
    return true;
}

// Draw the part of a triangle that lies behind the near plane, which cuts it.
void draw_clipped(const Renderer& r, View& view, int part_index, int triangle, const int* index, const float* m,
                  Triangle& record) {
    const int first_vertex = r.scene.part[part_index].first_vertex;
    const float near = view.camera.near;
    float given[3][ATTRIBUTES], kept[4][ATTRIBUTES];
    for (int i = 0; i < 3; ++i) {
        int vertex = first_vertex + index[i];
        float x = r.scene.x[vertex], y = r.scene.y[vertex], z = r.scene.z[vertex];
        for (int row = 0; row < 3; ++row)
            given[i][row] = x * m[row * 4] + y * m[row * 4 + 1] + z * m[row * 4 + 2] + m[row * 4 + 3];
        given[i][3] = r.scene.nx[vertex], given[i][4] = r.scene.ny[vertex], given[i][5] = r.scene.nz[vertex];
        given[i][6] = r.scene.u[vertex], given[i][7] = r.scene.v[vertex];
    }
    Plane plane;
    if (!depth_plane(given, plane)) return;
    int count = 0;
    for (int i = 0; i < 3; ++i) {
        const float *a = given[i], *b = given[(i + 1) % 3];
        if (a[2] > near) std::memcpy(kept[count++], a, sizeof given[0]);
        if ((a[2] > near) == (b[2] > near)) continue;
        float share = (near - a[2]) / (b[2] - a[2]);
        for (int k = 0; k < ATTRIBUTES; ++k) kept[count][k] = a[k] + (b[k] - a[k]) * share;
        ++count;
    }
    for (int i = 0; i < count; ++i) {
        kept[i][2] = 1 / kept[i][2];
        kept[i][0] *= kept[i][2], kept[i][1] *= kept[i][2];
    }
    auto corner = [&](int i) { return Corner{kept[i][0], kept[i][1], kept[i][2]}; };
    for (int i = 1; i + 1 < count; ++i) {
        const int fan[3] = {0, i, i + 1};
        if (!draw_triangle(r, view, part_index, triangle, {corner(0), corner(i), corner(i + 1)}, &plane, record))
            continue;
        for (int k = 0; k < 3; ++k) {
            record.corner[k] = (int)view.clipped_corners.size() / 5;
            view.clipped_corners.insert(view.clipped_corners.end(), kept[fan[k]] + 3, kept[fan[k]] + ATTRIBUTES);
        }
        view.triangles.push_back(record);
    }
}

}  // namespace

void compose(const float* a, const float* b, float* result) {
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column) {
            float sum = a[row * 4] * b[column] + a[row * 4 + 1] * b[4 + column] + a[row * 4 + 2] * b[8 + column];
            result[row * 4 + column] = column == 3 ? sum + a[row * 4 + 3] : sum;
        }
}

void draw(Renderer& r, View& view, bool moving) {
    const Camera& camera = view.camera;
    if (!moving) {
        view.triangles.assign(1, Triangle{});  // number 0: no surface
        view.clipped_corners.clear();
        std::fill(view.q.begin(), view.q.end(), 1 / camera.far);
        std::fill(view.triangle.begin(), view.triangle.end(), 0u);
    }
    float to_image[12];
    image_matrix(camera, view.world, to_image);
    Triangle record{};
    for (int k = 0; k < r.scene.parts; ++k) {
        const Part& part = r.scene.part[k];
        if ((part.moves != 0) != moving) continue;
        float m[12];
        compose(to_image, &r.poses[12 * part.link], m);
        Frustum frustum(m, camera);
        if (!frustum.sees(r.bounds[k])) continue;
        transform(r, part, m);
        for (int i = 0; i < part.vertices; i += LANES) {
            Floats q = 1 / load(&r.z[i]);
            store(&r.x[i], load(&r.x[i]) * q);
            store(&r.y[i], load(&r.y[i]) * q);
            store(&r.q[i], q);
        }
        for (int c = r.first_cluster[k]; c < r.first_cluster[k + 1]; ++c) {
            const Cluster& cluster = r.clusters[c];
            if (!frustum.sees(cluster.bounds)) continue;
            for (int t = cluster.first; t < cluster.last; ++t) {
                const int32_t* i = r.scene.corner + 3 * t;
                int behind = (r.z[i[0]] > camera.near) + (r.z[i[1]] > camera.near) + (r.z[i[2]] > camera.near);
                if (behind == 0) continue;
                if (behind < 3) {
                    draw_clipped(r, view, k, t, i, m, record);
                    continue;
                }
                auto corner = [&](int n) { return Corner{r.x[i[n]], r.y[i[n]], r.q[i[n]]}; };
                if (!draw_triangle(r, view, k, t, {corner(0), corner(1), corner(2)}, nullptr, record)) continue;
                for (int n = 0; n < 3; ++n) record.corner[n] = i[n] + part.first_vertex;
                view.triangles.push_back(record);
            }
        }
    }
}
