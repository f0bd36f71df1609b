// The C interface: make a renderer, set poses, render the image of a camera.
#include <array>
#include <cmath>
#include <exception>
#include <map>
#include <memory>

#include "raster.h"

namespace {

constexpr float MAX_LENGTH = 1e4f;  // m, of coordinates and poses

bool all_within(const float* values, size_t count, float limit) {
    for (size_t i = 0; i < count; ++i)
        if (!(std::abs(values[i]) <= limit)) return false;
    return true;
}

// What is wrong with a scene; null: nothing. Everything that is used as an index is checked.
const char* defect(const Scene& s) {
    for (int count : {s.parts, s.materials, s.textures, s.links, s.vertices, s.triangles, s.texels,
                      s.directional_lights, s.point_lights, s.cameras})
        if (count < 0) return "a count is negative";
    if (s.links > 65534) return "more than 65534 links";
    for (const float* values : {s.x, s.y, s.z})
        if (!all_within(values, s.vertices, MAX_LENGTH)) return "a vertex is not finite or beyond 10 km";
    for (const float* values : {s.nx, s.ny, s.nz})
        if (!all_within(values, s.vertices, 2)) return "a normal is not a unit vector";
    for (const float* values : {s.u, s.v})
        if (!all_within(values, s.vertices, 1e6f)) return "a texture position is not finite or beyond 1e6";
    for (int i = 0; i < s.parts; ++i) {
        const Part& p = s.part[i];
        if (p.link < 0 || p.link >= s.links || p.material < 0 || p.material >= s.materials)
            return "a part has no such link or material";
        if (p.first_vertex < 0 || p.vertices < 0 || p.vertices > s.vertices - p.first_vertex ||
            p.first_triangle < 0 || p.triangles < 0 || p.triangles > s.triangles - p.first_triangle)
            return "a part is not within the arrays";
        for (int t = 3 * p.first_triangle; t < 3 * (p.first_triangle + p.triangles); ++t)
            if (s.corner[t] < 0 || s.corner[t] >= p.vertices) return "a triangle has no such vertex";
    }
    for (int i = 0; i < s.materials; ++i) {
        const Material& m = s.material[i];
        if (m.texture < -1 || m.texture >= s.textures) return "a material has no such texture";
        if (!all_within(m.color, 3, 1e3f) || !all_within(&m.roughness, 1, 1) || !all_within(&m.metallic, 1, 1))
            return "a material has a value out of range; valid: colours up to 1000, roughness and metallic up to 1";
    }
    for (int i = 0; i < s.textures; ++i) {
        const Texture& t = s.texture[i];
        if (t.width < 1 || t.height < 1 || t.width > MAX_SIDE || t.height > MAX_SIDE || t.levels < 1 || t.levels > 16)
            return "a texture has an invalid size";
        int64_t end = t.first_texel, width = t.width, height = t.height;
        for (int level = 0; level < t.levels; ++level) {
            end += width * height;
            width = std::max<int64_t>(1, width / 2), height = std::max<int64_t>(1, height / 2);
        }
        if (t.first_texel < 0 || end > s.texels) return "a texture is not within the texels";
    }
    if (s.shadow_size < 16 || s.shadow_size > MAX_SIDE || s.shadow_size % SHADOW_BLOCK)
        return "invalid size of the shadow map; valid: multiples of 8 from 16 to 4096";
    if (!all_within(s.shadow, 12, 1e6f)) return "the pose of the light is not finite";
    for (int i = 0; i < s.cameras; ++i) {
        const Camera& c = s.camera[i];
        if (c.width < 1 || c.height < 1 || c.width > MAX_SIDE || c.height > MAX_SIDE)
            return "invalid size of an image; valid: sides of 1 to 4096";
        if (c.link < -1 || c.link >= s.links) return "a camera has no such link";
        if (!(c.near >= 1e-4f && c.near < c.far && c.far <= MAX_LENGTH))
            return "invalid depth range of a camera; valid: 0.1 mm <= near < far <= 10 km";
        if (!(c.focal >= 1e-3f && c.focal <= 1e6f) || !all_within(c.pose, 12, MAX_LENGTH))
            return "the pose of a camera is not finite, or its focal length is not in 0.001 to 1e6 pixels";
    }
    return nullptr;
}

Sphere enclose(const Scene& s, const Part& part, int first, int last) {
    double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
    const float* axes[3] = {s.x + part.first_vertex, s.y + part.first_vertex, s.z + part.first_vertex};
    for (int i = 3 * first; i < 3 * last; ++i)
        for (int k = 0; k < 3; ++k) {
            double value = axes[k][s.corner[i]];
            low[k] = std::min(low[k], value), high[k] = std::max(high[k], value);
        }
    Sphere sphere{(float)((low[0] + high[0]) / 2), (float)((low[1] + high[1]) / 2), (float)((low[2] + high[2]) / 2), 0};
    double square = 0;
    for (int i = 3 * first; i < 3 * last; ++i) {
        double x = axes[0][s.corner[i]] - sphere.x, y = axes[1][s.corner[i]] - sphere.y, z = axes[2][s.corner[i]] - sphere.z;
        square = std::max(square, x * x + y * y + z * z);
    }
    sphere.radius = (float)std::sqrt(square) * 1.0001f;
    return sphere;
}

// Number the planes of flat triangles, per link; those in one plane cannot occlude each other.
void number_planes(Renderer& r) {
    const Scene& s = r.scene;
    std::map<std::array<int64_t, 5>, int> numbers;
    r.plane.assign(s.triangles, -1);
    for (int k = 0; k < s.parts; ++k) {
        const Part& part = s.part[k];
        for (int t = part.first_triangle; t < part.first_triangle + part.triangles; ++t) {
            int a = s.corner[3 * t] + part.first_vertex;
            std::array<int64_t, 5> key{part.link, 0, 0, 0, 0};
            double distance = 0;
            bool flat = true;
            const float* normal[3] = {s.nx, s.ny, s.nz};
            const float* place[3] = {s.x, s.y, s.z};
            for (int i = 0; i < 3; ++i) {
                for (int corner = 1; corner < 3; ++corner)
                    flat &= normal[i][a] == normal[i][s.corner[3 * t + corner] + part.first_vertex];
                distance += (double)normal[i][a] * place[i][a];
                key[1 + i] = (int64_t)(normal[i][a] * 1e5);
            }
            key[4] = (int64_t)(distance * 1e5);
            if (flat) r.plane[t] = numbers.emplace(key, (int)numbers.size() + 1).first->second;
        }
    }
}

// The table of tone mapping: a filmic curve (Narkowicz 2015), then the display's gamma of 2.2. The
// inverse of the gamma needs only exact operations and roots by Newton's method, so that the table is
// the same with every mathematics library.
std::vector<uint8_t> display_table() {
    double bound[256];  // the brightness after the curve at which a value begins
    for (int value = 1; value < 256; ++value) {
        double x = (value - 0.5) / 255, root = 1;
        for (int i = 0; i < 60; ++i) root -= (root - x / (root * root * root * root)) / 5;
        bound[value] = x * x * root;  // x^2.2
    }
    std::vector<uint8_t> table(8192 + 64, 255);
    int value = 0;
    for (uint32_t i = 0; i < 8192; ++i) {
        uint32_t bits = (uint32_t)DARKEST + (i << DISPLAY_SHIFT) + (1u << (DISPLAY_SHIFT - 1));
        float brightness;
        std::memcpy(&brightness, &bits, sizeof bits);
        double x = i == 0 ? 0 : brightness, mapped = (x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14);
        while (value < 255 && mapped >= bound[value + 1]) ++value;
        table[i] = (uint8_t)value;
    }
    return table;
}

template <class T>
const T* copy(std::vector<T>& own, const T* given, size_t count, size_t padding = 0) {
    own.assign(given, given + count);
    own.resize(count + padding);
    return own.data();
}

void make_view(const Camera& camera, View& view) {
    view.camera = camera;
    view.tiles_x = (camera.width + TILE - 1) / TILE, view.tiles_y = (camera.height + TILE - 1) / TILE;
    view.stride = view.tiles_x * TILE;
    const size_t size = (size_t)view.stride * camera.height + PADDING;
    view.q.resize(size), view.depth.resize(size), view.triangle.resize(size);
    view.lit.resize(4 * size), view.luma.resize(size);
    if (camera.fixed)
        for (auto& array : view.kept_light) array.resize(size);
    view.kept_rgb.resize(camera.fixed ? 3 * (size_t)camera.width * camera.height : 0);
}

// Copy the scene into the renderer and compute what does not depend on poses.
void build(Renderer& r, const Scene& scene) {
    r.scene = scene;
    Scene& s = r.scene;
    const float** attributes[8] = {&s.x, &s.y, &s.z, &s.nx, &s.ny, &s.nz, &s.u, &s.v};
    for (int i = 0; i < 8; ++i) *attributes[i] = copy(r.attributes[i], *attributes[i], s.vertices, PADDING);
    s.corner = copy(r.corners, s.corner, 3 * (size_t)s.triangles);
    s.part = copy(r.parts, s.part, s.parts);
    s.material = copy(r.materials, s.material, s.materials);
    s.texture = copy(r.textures, s.texture, s.textures);
    s.texel = copy(r.texels, s.texel, 4 * (size_t)s.texels);
    s.directional_light = copy(r.directional_lights, s.directional_light, s.directional_lights);
    s.point_light = copy(r.point_lights, s.point_light, s.point_lights);
    size_t largest = 0;
    for (int k = 0; k < s.parts; ++k) {
        const Part& part = s.part[k];
        largest = std::max(largest, (size_t)part.vertices);
        const int end = part.first_triangle + part.triangles;
        r.bounds.push_back(enclose(s, part, part.first_triangle, end));
        r.first_cluster.push_back((int)r.clusters.size());
        for (int t = part.first_triangle; t < end; t += CLUSTER) {
            const int last = std::min(t + CLUSTER, end);
            r.clusters.push_back({enclose(s, part, t, last), t, last});
        }
    }
    r.first_cluster.push_back((int)r.clusters.size());
    number_planes(r);
    for (auto* array : {&r.x, &r.y, &r.z, &r.q}) array->resize(largest + PADDING);
    r.ramp.resize(MAX_SIDE + PADDING);
    for (size_t i = 0; i < r.ramp.size(); ++i) r.ramp[i] = (float)i;
    r.display = display_table();
    const size_t side = s.shadow_size, blocks = side / SHADOW_BLOCK * (side / SHADOW_BLOCK);
    r.shadow_static.texels.resize(side * side + PADDING);
    r.shadow_static.nearest.resize(blocks), r.shadow_static.farthest.resize(blocks);
    r.shadow_changed.resize(blocks);
    for (auto& row : r.shadow_rows) row.resize(side + PADDING);
    r.poses.resize(12 * (size_t)s.links);
    r.views.resize(s.cameras);
    for (int i = 0; i < s.cameras; ++i) make_view(s.camera[i], r.views[i]);
    s.camera = nullptr;  // the views have it
}

}  // namespace

extern "C" {

// Make a renderer; on an error return null and set `message`.
__attribute__((visibility("default"))) Renderer* render_create(const Scene* scene, const char** message) {
    if ((*message = defect(*scene))) return nullptr;
    try {
        auto r = std::make_unique<Renderer>();
        build(*r, *scene);
        return r.release();
    } catch (const std::exception&) {  // of the allocations
        *message = "not enough memory";
        return nullptr;
    }
}

__attribute__((visibility("default"))) void render_destroy(Renderer* r) { delete r; }

// Set the poses of all links in the world, 12 floats each. Returns 0, or 1 if one is not finite.
__attribute__((visibility("default"))) int render_pose(Renderer* r, const float* poses) {
    if (!all_within(poses, r->poses.size(), MAX_LENGTH)) return 1;
    auto differs = [&](int link) {
        return link >= 0 && !std::equal(poses + 12 * link, poses + 12 * link + 12, &r->poses[12 * link]);
    };
    bool forget = false;  // a link that does not move did
    for (const Part& part : r->parts) forget |= !part.moves && differs(part.link);
    for (const View& view : r->views) forget |= view.camera.fixed && differs(view.camera.link);
    if (forget) {
        r->shadow_kept = false;
        for (View& view : r->views) view.kept = false;
    }
    std::copy(poses, poses + r->poses.size(), r->poses.begin());
    draw_shadows(*r);
    return 0;
}

// Render the image (height, width, 3) of a camera.
__attribute__((visibility("default"))) void render_image(Renderer* r, int camera, uint8_t* rgb) {
    View& view = r->views[camera];
    const Camera& c = view.camera;
    if (c.link < 0)
        std::copy(c.pose, c.pose + 12, view.world);
    else
        compose(&r->poses[12 * c.link], c.pose, view.world);
    if (view.kept) {
        view.q = view.kept_q, view.triangle = view.kept_triangle;
        view.triangles.resize(view.kept_triangles), view.clipped_corners.resize(view.kept_corners);
    } else {
        draw(*r, view, false);
    }
    if (c.fixed && !view.kept) {
        view.kept_q = view.q, view.kept_triangle = view.triangle;
        view.kept_triangles = view.triangles.size(), view.kept_corners = view.clipped_corners.size();
        shade(*r, view, true);
        smooth_edges(view, view.kept_rgb.data());
        view.kept_lit = view.lit, view.kept_luma = view.luma;
        view.kept = true;
    }
    draw(*r, view, true);
    if (view.kept) {
        view.lit = view.kept_lit, view.luma = view.kept_luma;
        std::copy(view.kept_rgb.begin(), view.kept_rgb.end(), rgb);
    }
    shade(*r, view, false);
    smooth_edges(view, rgb);
}

// Write what is shown at each pixel of the latest image of a camera: the world position (height,
// width, 3), and the link (height, width): its number plus one, 0: no surface.
__attribute__((visibility("default"))) void render_positions(const Renderer* r, int camera, float* positions,
                                                             uint16_t* links) {
    locate(*r, r->views[camera], positions, links);
}

// Whether this processor has the instructions with which this library was compiled.
__attribute__((visibility("default"))) int render_supported() {
#if defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
#else
    return 1;
#endif
}

}  // extern "C"
